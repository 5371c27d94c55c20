package intake

import (
	"context"

	"carteira/internal/account"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/sqldb"
)

// roomForUpload makes room for a file by removing those that were imported
// longest ago, and refuses it when those that wait leave none. The company is
// locked, so that two at once cannot both be the last.
func roomForUpload(ctx context.Context, tx *sqldb.Tx, actor account.Actor, size int64) error {
	if err := account.LockTx(ctx, tx, actor); err != nil {
		return err
	}
	bounds := actor.Company.Bounds()
	if size > bounds.UploadBytes {
		return fault.Field("file", "is larger than the company may upload")
	}
	kept, err := uploadSizes(ctx, tx, actor.Company.ID)
	if err != nil {
		return err
	}
	count, bytes := int64(len(kept)), size
	for _, uploadSize := range kept {
		bytes += uploadSize.bytes
	}
	for _, uploadSize := range kept { // the oldest first
		if count < bounds.Uploads && bytes <= bounds.UploadBytes {
			break
		}
		if uploadSize.waits {
			continue
		}
		if err := deleteUpload(ctx, tx, actor.Company.ID, uploadSize.id); err != nil {
			return err
		}
		count, bytes = count-1, bytes-uploadSize.bytes
	}
	if count >= bounds.Uploads || bytes > bounds.UploadBytes {
		return fault.Field(
			"file",
			"too many files wait to be imported; import one, or wait until they are removed after three days",
		)
	}
	return nil
}
