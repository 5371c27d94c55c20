// Package documents keeps README, docs and their neighbours true: its tests
// compare what they say with the settings, commands, operations, metrics and
// dependencies that there are. It owns no words: a test that fails shows what to
// write, or what no longer exists.
package documents
