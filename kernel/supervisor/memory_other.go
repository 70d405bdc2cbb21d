//go:build !linux

package supervisor

// Outside Linux another process's memory cannot be read without C: the worker watches its own (pipe.Start.WatchMemory).
const seesMemory = false

func residentMemory(int) uint64        { return 0 }
func memoryFree(uint64) (uint64, bool) { return 0, false }
func oomKills() int64                  { return 0 }
