//go:build !amd64

package vgpu

// threadedAvailable is false: this architecture has no threaded assembly.
func threadedAvailable() bool { return false }

// threads is the state of threaded assembly, which this architecture has not.
type threads struct{}

func newThreads(p *program) *threads                { return nil }
func (w *warp) runThreads(b *block, m uint32) int32 { return -1 }
func (k *worker) settleThreads()                    {}

var asmGuard, asmJump, asmBranch, asmMaskedJump, asmMaskedBranch uintptr

func asmFor(in *inst) *asmOp       { return nil }
func asmAddress(op *asmOp) uintptr { return 0 }
func (t *threads) begin(k *worker) {}
func (t *threads) forget(int32)    {}
