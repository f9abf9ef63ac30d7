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
	item := orders.New("a", time.UnixMilli(5))
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
		item := orders.New("a", time.UnixMilli(5))
		item[orders.AttrHistory] = history
		if _, err := orders.Read(item); err == nil || !strings.HasPrefix(err.Error(), `order "a": `) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
