package exportdata

import _ "embed"

//go:embed std_darwin.zip
var stdArchive string
