package pix

// CRC is what the sum of a code is tested by.
var CRC = crc
