package app

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"carteira/internal/platform/backup"
	"carteira/internal/platform/worker"
)

// backups makes the copies of the embedded database.
type backups struct {
	folder backup.Folder
	made   prometheus.Gauge
	size   prometheus.Gauge
}

func newBackups(folder backup.Folder) *backups {
	b := &backups{
		folder: folder,
		made: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "carteira_backup_last_success_timestamp_seconds",
			Help: "When the newest copy in the backup folder was made, in seconds since 1970; 0 when there is none.",
		}),
		size: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "carteira_backup_size_bytes",
			Help: "Size of the newest copy in the backup folder.",
		}),
	}
	if list, err := folder.List(); err == nil && len(list) > 0 { // of processes before this one
		b.note(list[len(list)-1])
	}
	return b
}

func (b *backups) metrics() []prometheus.Collector {
	return []prometheus.Collector{b.made, b.size}
}

func (b *backups) note(file backup.File) {
	b.made.Set(float64(file.Made.Unix()))
	b.size.Set(float64(file.Size))
}

// backUpEvery is how often it is looked whether tonight's copy is due, and how
// soon one that failed is tried again.
const backUpEvery = 5 * time.Minute

// backupTask looks at once whether tonight's copy is due, and then every so
// often.
func (a *App) backupTask() worker.Task {
	look := func(ctx context.Context) error {
		return a.backUp(ctx, time.Now()) //nolint:forbidigo // the night of the machine, no day of a company
	}
	job := worker.Job{Name: "back up the database", Every: backUpEvery, Run: look}
	task := job.Task(a.Log)
	repeat := task.Run
	task.Run = func(ctx context.Context) error {
		if err := look(ctx); err != nil {
			a.Log.ErrorContext(ctx, "job failed", "job", job.Name, "error", err)
		} else {
			worker.Succeeded(ctx)
		}
		return repeat(ctx)
	}
	return task
}

// backUp makes tonight's copy if it is due, and deletes the old ones.
func (a *App) backUp(ctx context.Context, now time.Time) error {
	due, err := a.backups.folder.Due(now)
	if err != nil || !due {
		return err
	}
	file, err := a.backups.folder.Make(ctx, a.DB, now)
	if err != nil {
		return err
	}
	a.backups.note(file)
	a.Log.InfoContext(ctx, "backed up", "file", file.Path, "bytes", file.Size)
	return a.backups.folder.Prune(now)
}
