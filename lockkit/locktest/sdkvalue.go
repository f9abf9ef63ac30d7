package locktest

import "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

// fromSDK converts and checks an item given as SDK values.
func fromSDK(attributes map[string]types.AttributeValue) (item, error) {
	return wireFromSDK(attributes).decode()
}

func wireFromSDK(attributes map[string]types.AttributeValue) wireItem {
	w := make(wireItem, len(attributes))
	for name, av := range attributes {
		w[name] = wireValueFromSDK(av)
	}
	return w
}

func wireValueFromSDK(av types.AttributeValue) *wireValue {
	switch av := av.(type) {
	case *types.AttributeValueMemberS:
		return &wireValue{S: &av.Value}
	case *types.AttributeValueMemberN:
		return &wireValue{N: &av.Value}
	case *types.AttributeValueMemberB:
		return &wireValue{B: &av.Value}
	case *types.AttributeValueMemberBOOL:
		return &wireValue{BOOL: &av.Value}
	case *types.AttributeValueMemberNULL:
		return &wireValue{NULL: &av.Value}
	case *types.AttributeValueMemberM:
		return &wireValue{M: wireFromSDK(av.Value)}
	case *types.AttributeValueMemberL:
		list := make([]*wireValue, len(av.Value))
		for i, e := range av.Value {
			list[i] = wireValueFromSDK(e)
		}
		return &wireValue{L: list}
	case *types.AttributeValueMemberSS:
		return &wireValue{SS: append([]string{}, av.Value...)}
	case *types.AttributeValueMemberNS:
		return &wireValue{NS: append([]string{}, av.Value...)}
	case *types.AttributeValueMemberBS:
		return &wireValue{BS: append([][]byte{}, av.Value...)}
	default:
		return nil
	}
}

// toSDK converts an item to SDK values; nil stays nil.
func toSDK(it item) map[string]types.AttributeValue {
	if it == nil {
		return nil
	}
	attributes := make(map[string]types.AttributeValue, len(it))
	for name, v := range it {
		attributes[name] = v.toSDK()
	}
	return attributes
}

func (v value) toSDK() types.AttributeValue {
	switch v.kind {
	case kindString:
		return &types.AttributeValueMemberS{Value: v.text}
	case kindNumber:
		return &types.AttributeValueMemberN{Value: v.number.text}
	case kindBinary:
		return &types.AttributeValueMemberB{Value: []byte(v.text)}
	case kindBool:
		return &types.AttributeValueMemberBOOL{Value: v.truth}
	case kindNull:
		return &types.AttributeValueMemberNULL{Value: true}
	case kindMap:
		return &types.AttributeValueMemberM{Value: toSDK(v.fields)}
	case kindList:
		list := make([]types.AttributeValue, len(v.list))
		for i, e := range v.list {
			list[i] = e.toSDK()
		}
		return &types.AttributeValueMemberL{Value: list}
	case kindStringSet:
		return &types.AttributeValueMemberSS{Value: v.texts()}
	case kindNumberSet:
		return &types.AttributeValueMemberNS{Value: v.texts()}
	default:
		set := make([][]byte, len(v.list))
		for i, e := range v.list {
			set[i] = []byte(e.text)
		}
		return &types.AttributeValueMemberBS{Value: set}
	}
}

// texts returns the elements of a string or number set.
func (v value) texts() []string {
	texts := make([]string, len(v.list))
	for i, e := range v.list {
		texts[i] = e.scalarText()
	}
	return texts
}
