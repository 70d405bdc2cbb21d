package symbols

import (
	"log"
	"reflect"

	"memwall/kernel/cell/rt"
)

// replaced are functions that would end the worker's process: they end the cell.
var replaced = map[string]Table{
	"os": {"Exit": reflect.ValueOf(rt.Exit)},
	"log": {
		"Fatal":   reflect.ValueOf(func(v ...any) { log.Print(v...); rt.Exit(1) }),
		"Fatalf":  reflect.ValueOf(func(format string, v ...any) { log.Printf(format, v...); rt.Exit(1) }),
		"Fatalln": reflect.ValueOf(func(v ...any) { log.Println(v...); rt.Exit(1) }),
	},
}
