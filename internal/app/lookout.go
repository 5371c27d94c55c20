package app

import (
	"context"
	"time"

	"carteira/internal/platform/sqldb"
	"carteira/internal/platform/worker"
)

// lookEvery is how soon what another process has left to do is seen, and what
// time alone makes due.
const lookEvery = time.Second

// lookout looks for work in the database for all tasks together, in one
// statement, and wakes those that have some. What waking costs is most of what a
// quiet server costs.
type lookout struct {
	db    *sqldb.DB
	posts []post
}

// post is one look, and who is woken when it finds something.
type post struct {
	look func() sqldb.Look
	wake func()
}

func (l *lookout) watch(look func() sqldb.Look, wake func()) {
	l.posts = append(l.posts, post{look, wake})
}

// wake is for a job that sleeps until a look finds something.
func (l *lookout) wake(look func() sqldb.Look) worker.Wake {
	wake := worker.NewWake()
	l.watch(look, wake.Hint)
	return wake
}

func (l *lookout) job() worker.Job {
	return worker.Job{Name: "look for work", Every: lookEvery, Run: l.run}
}

func (l *lookout) run(ctx context.Context) error {
	looks := make([]sqldb.Look, len(l.posts))
	for i, post := range l.posts {
		looks[i] = post.look()
	}
	found, err := sqldb.Looks(ctx, l.db, looks)
	if err != nil {
		return err
	}
	for i, post := range l.posts {
		if found[i] {
			post.wake()
		}
	}
	return nil
}
