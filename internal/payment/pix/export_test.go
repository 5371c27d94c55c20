package pix

// What tests of the format need besides.
var (
	Seal = seal
	CRC  = crc
)
