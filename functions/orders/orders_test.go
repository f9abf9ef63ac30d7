package orders_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/functions/orders"
	"github.com/solotick/solotick/lockkit/locktest"
)

func TestAnOrderSurvivesTheTable(t *testing.T) {
	db := locktest.New()
	if err := orders.CreateTable(t.Context(), db.Client(), "orders"); err != nil {
		t.Fatal(err)
	}
	want := orders.Order{ID: "a", Status: orders.Placed, History: []orders.Change{{Status: orders.Closed, At: time.UnixMilli(7), Token: 9007199254740993}}}
	item := orders.New("a", time.UnixMilli(5), 100)
	item[orders.AttrHistory] = &types.AttributeValueMemberL{Value: []types.AttributeValue{want.History[0].Value()}}
	if err := db.Put("orders", item); err != nil {
		t.Fatal(err)
	}
	got, err := orders.Read(db.Item("orders", orders.Key("a")))
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v; expected %+v", got, err, want)
	}
}

func TestABrokenHistoryIsNamed(t *testing.T) {
	list := func(entries ...types.AttributeValue) types.AttributeValue {
		return &types.AttributeValueMemberL{Value: entries}
	}
	entry := orders.Change{Token: 1}.Value().(*types.AttributeValueMemberM)
	delete(entry.Value, "token")
	for name, history := range map[string]types.AttributeValue{
		"no list": orders.Text("x"), "no map": list(orders.Text("x")), "no time": list(&types.AttributeValueMemberM{}), "no token": list(entry),
	} {
		item := orders.New("a", time.UnixMilli(5), 100)
		item[orders.AttrHistory] = history
		if _, err := orders.Read(item); err == nil || !strings.HasPrefix(err.Error(), `order "a": `) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAReportSurvivesItsItem(t *testing.T) {
	want := orders.Report{
		Tick: time.Date(2026, 12, 1, 2, 0, 0, 5000000, time.UTC), After: time.UnixMilli(3).UTC(), UpTo: time.UnixMilli(9).UTC(),
		Orders: 7, Total: 9007199254740993, Token: 11,
	}
	if got, err := orders.ReadReport(want.Item()); err != nil || got != want {
		t.Errorf("%+v, %v; expected %+v", got, err, want)
	}
	for _, attribute := range []string{orders.AttrReport, orders.AttrAfter, orders.AttrUpTo, orders.AttrOrders, orders.AttrTotal, orders.AttrReportedBy} {
		item := want.Item()
		delete(item, attribute)
		_, err := orders.ReadReport(item)
		if err == nil || !strings.HasPrefix(err.Error(), `report "`) || attribute != orders.AttrReport && !strings.Contains(err.Error(), attribute) {
			t.Errorf("without %s: %v", attribute, err)
		}
	}
}

// The day is that of UTC, wherever the clock that placed the order was set.
func TestDayIsUTC(t *testing.T) {
	evening := time.Date(2026, 12, 1, 20, 0, 0, 0, time.FixedZone("west", -8*3600))
	if got := orders.Day(evening); got != "2026-12-02" {
		t.Errorf("got %s", got)
	}
}
