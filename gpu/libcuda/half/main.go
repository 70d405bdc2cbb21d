//go:build cuda && cgo && linux

// Command half is the Go half of libcuda.so.1 (go build -buildmode=c-shared): the virtual driver with what `memwall exec` asks of it
// through the environment.
package main

/*
extern void memwall_at_exit(void);
*/
import "C"

import (
	"encoding/json"
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
			if l.Result != nil {
				found(l.Result.Findings)
			}
		}
		C.memwall_at_exit()
	}
	vdrv.Configure(o)
}

// found records what the sanitizer found in a launch.
func found(list []driver.Finding) {
	for i := range list {
		f := &list[i]
		same := fmt.Sprintln(f.Kind, f.Function, f.Space, f.First.What, f.First.PTXLine)
		if f.Second != nil {
			same += fmt.Sprintln(f.Second.What, f.Second.PTXLine)
		}
		if text, err := json.Marshal(f); err == nil { // it has nothing that JSON cannot say
			recorder.Found(record.Found{Same: same, Finding: text})
		}
	}
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
