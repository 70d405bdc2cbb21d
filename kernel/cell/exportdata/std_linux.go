package exportdata

import _ "embed"

//go:embed std_linux.zip
var stdArchive string
