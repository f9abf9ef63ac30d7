package fence_test

import (
	"database/sql"
	"path/filepath"
	"testing"

	_ "modernc.org/sqlite" // the driver, in pure Go
)

// newSQLite is a database in a file, because connections to one in memory do not
// wait for each other's locks.
func newSQLite(tb testing.TB) *database {
	tb.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(tb.TempDir(), "shop.db")+"?_pragma=busy_timeout(60000)&_pragma=journal_mode(WAL)&_pragma=synchronous(OFF)")
	if err != nil {
		tb.Fatal(err)
	}
	return newDatabase(tb, db, "INTEGER PRIMARY KEY AUTOINCREMENT")
}

func TestColumnOnSQLite(t *testing.T)   { judgesColumn(t, newSQLite(t)) }
func TestMarksOnSQLite(t *testing.T)    { raisesMarks(t, newSQLite(t)) }
func TestSQLStoreOnSQLite(t *testing.T) { servesHTTP(t, newSQLite(t)) }

func TestGuaranteeSQLRefusesWhatIsNoToken(t *testing.T) { refusesNoToken(t, newSQLite(t)) }

func TestGuaranteeSQLKeepsTheHighest(t *testing.T) { keepsTheHighest(t, newSQLite(t)) }
