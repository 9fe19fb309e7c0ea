package cmdline

import (
	"encoding"
	"encoding/json"
	"reflect"
	"strings"
	"unicode"
)

// addObject adds a document, and the objects below it.
func (p *Program) addObject(name string, document any) { p.object(name, reflect.TypeOf(document)) }

// object adds a struct type, but once.
func (p *Program) object(name string, t reflect.Type) string {
	if _, known := p.Object(name); known {
		return name
	}
	at := len(p.Objects)
	p.Objects = append(p.Objects, Object{Name: name})
	fields := p.fields(t)
	p.Objects[at].Fields = fields
	return name
}

// objectName makes run of runDocument, and file of documentFile.
func objectName(t reflect.Type) string {
	name := t.Name()
	for _, affix := range []string{"document", "Document"} {
		name = strings.TrimSuffix(strings.TrimPrefix(name, affix), affix)
	}
	var words strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 {
			words.WriteByte('-')
		}
		words.WriteRune(unicode.ToLower(r))
	}
	return words.String()
}

// fields are those of a struct, in its order; an embedded one's are its own.
func (p *Program) fields(t reflect.Type) []Field {
	var fields []Field
	for i := range t.NumField() {
		f := t.Field(i)
		tag, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && tag == "":
			fields = append(fields, p.fields(f.Type)...)
		case tag == "-" || tag == "" && !f.IsExported():
		default:
			if tag == "" {
				tag = f.Name
			}
			fields = append(fields, Field{Name: tag, Type: p.optional(f.Type, options)})
		}
	}
	return fields
}

// optional is a type with whether the field may be missing, as the options of
// its tag say.
func (p *Program) optional(t reflect.Type, options string) string {
	switch {
	case !strings.Contains(options, "omitempty") && !strings.Contains(options, "omitzero"):
		return p.typeText(t)
	case t.Kind() == reflect.Pointer:
		return p.typeText(t.Elem()) + ", left out if there is none"
	}
	return p.typeText(t) + ", left out if empty"
}

var (
	moment        = reflect.TypeFor[interface{ UnixMicro() int64 }]() // time.Time, or what has one in it
	textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()
	marshaler     = reflect.TypeFor[json.Marshaler]()
)

// typeText is a type in the words of JSON.
func (p *Program) typeText(t reflect.Type) string {
	switch {
	case t.Kind() == reflect.Pointer:
		return p.typeText(t.Elem()) + " or null"
	case t.Implements(moment):
		return "time"
	case t.Implements(textMarshaler):
		return "string"
	case t.Implements(marshaler):
		return "object"
	}
	switch t.Kind() {
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "boolean"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "integer"
	case reflect.Float32, reflect.Float64:
		return "number"
	case reflect.Slice, reflect.Array:
		return "array of " + p.typeText(t.Elem())
	case reflect.Map:
		return "object of " + p.typeText(t.Elem())
	case reflect.Struct:
		return p.object(objectName(t), t)
	default:
		return "any value"
	}
}
