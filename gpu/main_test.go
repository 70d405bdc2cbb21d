package gpu

import (
	"os"
	"testing"

	"memwall/install/installtest"
)

func TestMain(m *testing.M) {
	ChildMain()
	installtest.Fetch()
	os.Exit(m.Run())
}
