package exportdata

import _ "embed"

//go:embed std_windows.zip
var stdArchive string
