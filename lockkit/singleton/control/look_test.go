package control_test

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"github.com/solotick/solotick/lockkit/singleton"
	"github.com/solotick/solotick/lockkit/singleton/control"
)

func TestLook(t *testing.T) {
	inWorld(t, func(w *world) {
		if got := w.look(); !reflect.DeepEqual(got, control.State{Job: report.Name, Table: table}) {
			t.Errorf("without an item: %+v", got)
		}
		w.requests("R")
		w.run(0, func(ctx context.Context, run *singleton.Run) error {
			if err := run.Checkpoint(ctx, "page 2"); err != nil {
				t.Error(err)
			}
			got := w.lookIn(ctx)
			if got.Run == nil || got.Run.Owner != got.Owner || got.Prev != nil || got.Cursor != "page 2" || !got.CursorTick.Equal(w.due) || got.Step != 1 || got.Token != run.Token() || got.Renewed.IsZero() {
				t.Errorf("%+v", got)
			}
			return errors.New("boom")
		})
		got := w.look()
		if got.Held() || got.Run != nil || got.Prev == nil || got.Prev.Outcome != "failed" || got.Prev.Err != "boom" || !got.Tick.IsZero() {
			t.Errorf("%+v, prev %+v", got, got.Prev)
		}
		w.run(0, nothing)
		if got := w.look(); !got.Tick.Equal(w.due) || got.Cursor != "" || got.Prev.Outcome != "completed" || got.Faults != nil {
			t.Errorf("%+v", got)
		}
		it := w.item()
		it["tick"], it["step"], it["cursor"], it["pending"] = s("x"), s("x"), s("x"), n("1764554400123")
		w.put(it)
		if got := w.look(); len(got.Faults) != 3 || got.Pending.UnixMilli() != 1764554400123 {
			t.Errorf("faults %q, %+v", got.Faults, got)
		}
	})
}

func TestLookTellsTheHoldersRecordFromAnOlderOne(t *testing.T) {
	inWorld(t, func(w *world) {
		was, result := w.hold()
		it := w.item()
		it["owner"], it["rvn"] = s("foreign"), s("v1")
		w.put(it)
		if got := w.look(); got.Run != nil || got.Prev == nil || got.Prev.Owner != was.Owner {
			t.Errorf("%+v", got)
		}
		<-result
	})
}
