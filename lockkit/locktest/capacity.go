package locktest

// consumedCapacity is what a request cost in one table, in capacity units.
type consumedCapacity struct {
	TableName          string
	CapacityUnits      float64
	ReadCapacityUnits  float64 `json:",omitempty"`
	WriteCapacityUnits float64 `json:",omitempty"`
	Table              *units  `json:",omitempty"`
}

type units struct {
	CapacityUnits      float64
	ReadCapacityUnits  float64 `json:",omitempty"`
	WriteCapacityUnits float64 `json:",omitempty"`
}

// capacityRequest is the parameter that asks for the cost.
type capacityRequest struct {
	ReturnConsumedCapacity string `json:",omitempty"`
}

func (r capacityRequest) checkCapacity() error {
	return oneOf("returnConsumedCapacity", r.ReturnConsumedCapacity, "INDEXES", "TOTAL", "NONE")
}

func (r capacityRequest) wantsCapacity() bool {
	return r.ReturnConsumedCapacity == "TOTAL" || r.ReturnConsumedCapacity == "INDEXES"
}

// report builds the answer's member, nil unless asked for.
func (r capacityRequest) report(table string, read, write float64) *consumedCapacity {
	if !r.wantsCapacity() {
		return nil
	}
	c := &consumedCapacity{TableName: table, CapacityUnits: read + write}
	if r.ReturnConsumedCapacity == "INDEXES" {
		c.Table = &units{CapacityUnits: read + write}
	}
	return c
}

// reports builds the answer's member for several tables, ordered as given.
func (r capacityRequest) reports(tables []string, read, write map[string]float64) []consumedCapacity {
	if !r.wantsCapacity() {
		return nil
	}
	var all []consumedCapacity
	for _, t := range tables {
		all = append(all, *r.report(t, read[t], write[t]))
	}
	return all
}

const (
	writeUnit = 1024 // bytes
	readUnit  = 4096 // bytes
)

// writeUnits is what a write of the larger of two images costs: a unit for each
// 1 KB begun, and at least one, also where the condition fails. Writes of index
// entries are not counted.
func writeUnits(before, after item) float64 {
	return float64(blocks(max(before.size(), after.size()), writeUnit))
}

// readUnits is what reading so many bytes costs: a unit for each 4 KB begun, at
// least one; half of it where the read is eventually consistent.
func readUnits(bytes int, consistent bool) float64 {
	n := float64(blocks(bytes, readUnit))
	if !consistent {
		n /= 2
	}
	return n
}

func blocks(bytes, block int) int { return max((bytes+block-1)/block, 1) }
