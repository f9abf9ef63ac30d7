package job

import "time"

// LongestAlarm is the longest ExpectedInterval that an alarm on the metrics of
// runs can watch, because CloudWatch looks back seven days at most. Who watches a
// job with a longer one reads its last completed tick from the lock's item.
const LongestAlarm = 6 * 24 * time.Hour
