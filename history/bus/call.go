package bus

import "github.com/svckit/svckit/history/bus/wire"

// get is the question for a property.
func get(path, iface, name string) wire.Call {
	return wire.Call{Destination: destination, Path: path, Interface: propertiesIface, Member: "Get", Args: []any{iface, name}}
}

// managerCall is a call of the manager itself.
func managerCall(method string, args ...any) wire.Call {
	return wire.Call{Destination: destination, Path: managerPath, Interface: managerIface, Member: method, Args: args}
}

// only is the value of an answer that has one; nil for any other.
func only(values []any) any {
	if len(values) != 1 {
		return nil
	}
	return values[0]
}

// unitPath is the object of a unit: all but letters and digits, and a digit that
// comes first, are written as _ and two hexadecimal digits.
func unitPath(name string) string {
	const hex = "0123456789abcdef"
	path := append(make([]byte, 0, len(unitPrefix)+2*len(name)), unitPrefix...)
	for i := range len(name) {
		c := name[i]
		isDigit := '0' <= c && c <= '9'
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || isDigit && i > 0 {
			path = append(path, c)
			continue
		}
		path = append(path, '_', hex[c>>4], hex[c&15])
	}
	return string(path)
}
