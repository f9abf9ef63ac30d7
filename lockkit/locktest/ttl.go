package locktest

import "time"

type updateTTLRequest struct {
	TableName               string
	TimeToLiveSpecification *struct {
		AttributeName string
		Enabled       bool
	}
}

func (r *updateTTLRequest) tableName() string { return tableName(r.TableName) }

func (r *updateTTLRequest) run(db *DB) (any, error) {
	t, err := db.namedTable(r.TableName)
	if err != nil {
		return nil, err
	}
	s := r.TimeToLiveSpecification
	switch {
	case s == nil || s.AttributeName == "":
		return nil, validation("1 validation error detected: Value at 'timeToLiveSpecification.attributeName' failed to satisfy constraint: Member must have length greater than or equal to 1")
	case s.Enabled && t.ttl != "":
		return nil, validation("TimeToLive is already enabled")
	case !s.Enabled && t.ttl == "":
		return nil, validation("TimeToLive is already disabled")
	case !s.Enabled && t.ttl != s.AttributeName:
		return nil, validation("TimeToLive is active on a different AttributeName: current AttributeName is %s", t.ttl)
	case s.Enabled:
		t.ttl = s.AttributeName
	default:
		t.ttl = ""
	}
	return map[string]any{"TimeToLiveSpecification": map[string]any{"AttributeName": s.AttributeName, "Enabled": s.Enabled}}, nil
}

type describeTTLRequest struct{ TableName string }

func (r *describeTTLRequest) tableName() string { return tableName(r.TableName) }

func (r *describeTTLRequest) run(db *DB) (any, error) {
	t, err := db.namedTable(r.TableName)
	if err != nil {
		return nil, err
	}
	d := map[string]string{"TimeToLiveStatus": "DISABLED"}
	if t.ttl != "" {
		d = map[string]string{"TimeToLiveStatus": "ENABLED", "AttributeName": t.ttl}
	}
	return map[string]any{"TimeToLiveDescription": d}, nil
}

// ttlReach is how far in the past a time to live still counts, in years: the
// service takes what is older for a mistake and keeps the item.
const ttlReach = 5

// Expire deletes the items whose time to live is due at now and returns how
// many there were. Only tables with TTL enabled (UpdateTimeToLive) take part,
// and in them items whose TTL attribute is a number of epoch seconds that is
// before now but not by more than five years. The service does this within
// days, at a time of its own; here nothing expires unless a test says so.
func (db *DB) Expire(now time.Time) int {
	db.mu.Lock()
	defer db.mu.Unlock()
	expired := 0
	for _, t := range db.tables {
		if t.ttl == "" {
			continue
		}
		var due []item
		for _, group := range t.items.partitions {
			for _, it := range group {
				if t.isDue(it, now) {
					due = append(due, it)
				}
			}
		}
		for _, it := range due {
			t.remove(it)
		}
		expired += len(due)
	}
	return expired
}

func (t *table) isDue(it item, now time.Time) bool {
	v, ok := it[t.ttl]
	if !ok || v.kind != kindNumber {
		return false
	}
	seconds, err := v.number.dec.Int64()
	if err != nil { // a fraction, or beyond any date
		return false
	}
	return seconds < now.Unix() && seconds > now.AddDate(-ttlReach, 0, 0).Unix()
}
