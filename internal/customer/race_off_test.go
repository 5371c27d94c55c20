//go:build !race

package customer

const raced = false
