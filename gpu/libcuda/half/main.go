//go:build cuda && cgo && linux

// Command half is the Go half of libcuda.so.1 (go build -buildmode=c-shared): the virtual driver with what `memwall exec` asks of it
// through the environment.
package main

/*
extern void memwall_at_exit(void);
*/
import "C"

import (
	"fmt"
	"os"

	"memwall/gpu/internal/driver"
	"memwall/gpu/internal/vdrv"
	"memwall/gpu/libcuda/record"
)

var recorder *record.Recorder

func init() {
	o := vdrv.Options{Interrupts: true, Sanitize: os.Getenv(record.EnvironmentSanitize) != ""}
	if os.Getenv(record.EnvironmentQuiet) == "" {
		o.Report = func(line string) { fmt.Fprintln(os.Stderr, "memwall: "+line) }
	}
	if file := os.Getenv(record.EnvironmentFile); file != "" {
		recorder = record.New(fmt.Sprintf("%s.%d", file, os.Getpid()))
		o.Count, o.Simulate = true, true
		o.Launched = func(l vdrv.Launched) {
			if l.Err != nil {
				recorder.Stopped(l.Err.Error())
			} else {
				recorder.Add(driver.Observe(vdrv.GPU(), l.Launch, l.Result))
			}
		}
		C.memwall_at_exit()
	}
	vdrv.Configure(o)
}

// memwall_finish writes what was recorded, when the program ends.
//
//export memwall_finish
func memwall_finish() {
	if err := recorder.Write(); err != nil {
		fmt.Fprintln(os.Stderr, "memwall: "+err.Error())
	}
}

func main() {}
