//go:build linux

package main

import "time"

// How many deliveries may come once more: those under way in a process that dies,
// sixteen of each webhook, and, when the database server dies, those that were
// delivered in the second before.
const (
	aDeath  = webhooks * 16
	aSecond = webhooks * writers * int(time.Second/pace)
)

// trials are all faults, in the order of the table. A goal is marked as kept
// once it is; until then a miss is shown and fails nothing.
var trials = []trial{
	{
		number: "1", name: "the database server is killed and starts again", database: postgres, short: true,
		goal: goal{10 * time.Second, everything, true}, repeats: aDeath + aSecond, run: killDatabase,
	},
	{
		number: "2", name: "the database host vanishes without a word, and a standby takes over", database: postgres, short: true,
		goal: goal{35 * time.Second, everything, true}, repeats: aDeath + aSecond, run: vanish,
	},
	{
		number: "2", name: "failover to a standby, connections are refused", database: postgres,
		goal: goal{10 * time.Second, everything, true}, repeats: aDeath + aSecond, run: failover,
	},
	{
		number: "3", name: "one process of three is cut off from the database", database: postgres,
		goal: goal{10 * time.Second, deliveries, true}, repeats: aDeath, run: cutOff,
	},
	{
		number: "3", name: "one process of three is killed", database: postgres,
		goal: goal{10 * time.Second, deliveries, true}, repeats: aDeath, run: killOne,
	},
	{
		number: "3", name: "one process of three is stopped (SIGSTOP) for 15 s", database: postgres,
		goal: goal{10 * time.Second, deliveries, true}, repeats: aDeath, run: freezeOne,
	},
	{
		number: "3", name: "one process of three has a clock that is 60 s ahead", database: postgres,
		goal: goal{5 * time.Second, everything, true}, run: skewed("60s"),
	},
	{
		number: "3", name: "one process of three has a clock that is 60 s behind", database: postgres,
		goal: goal{5 * time.Second, everything, true}, run: skewed("-60s"),
	},
	{
		number: "4", name: "48 hostile receivers beside 6 healthy ones", database: sqlite,
		goal: goal{time.Second, special, true}, run: hostile,
	},
	{
		number: "4", name: "48 hostile receivers beside 6 healthy ones", database: postgres,
		goal: goal{time.Second, special, true}, run: hostile,
	},
	{
		number: "6", name: "the data folder is removed", database: sqlite, short: true,
		goal: goal{5 * time.Second, special, true}, repeats: aDeath, run: removeFolder,
	},
	{
		number: "7", name: "the disk is full, and has room again after 5 s", database: sqlite,
		goal: goal{10 * time.Second, writing, true}, repeats: aDeath, prepare: smallDisk, run: fullDisk,
	},
	{
		number: "8", name: "an import of 100,000 rows", database: sqlite,
		goal: goal{250 * time.Millisecond, special, true}, run: importing,
	},
	{
		number: "8", name: "an import of 100,000 rows", database: postgres,
		goal: goal{250 * time.Millisecond, special, true}, run: importing,
	},
	{
		number: "9", name: "30 people sign in at once, in 96 MB", database: sqlite, short: true,
		goal: goal{time.Minute, special, true}, run: signIns,
	},
	{
		number: "10", name: "the only process is killed 5 times, requests are repeated", database: sqlite, short: true,
		goal: goal{2 * time.Second, special, true}, repeats: 5 * aDeath, run: killRepeatedly,
	},
	{
		number: "33", name: "two versions at once, and the newer one is killed", database: postgres,
		goal: goal{10 * time.Second, special, true}, repeats: 2 * aDeath, run: twoVersions,
	},
	{
		number: "33", name: "power cuts, rebuilt from what was written and flushed", database: sqlite,
		goal: goal{time.Minute, special, true}, run: powerCuts,
	},
}
