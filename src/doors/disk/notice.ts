/** What can happen to the files of a world that its owner should hear of. */
export type NoticeEvent =
  | 'edit_taken'
  | 'edit_refused'
  | 'edited_while_stopped'
  | 'file_removed'
  | 'file_corrupt'
  | 'log_torn'
  | 'log_corrupt'
  | 'log_orphaned'
  | 'checkpoint_failed'
  | 'checkpoint_recovered'
  | 'watch_failed'
  | 'lock_left'
  | 'snapshot_damaged'
  | 'snapshots_orphaned'

/** One report to the owner of the files. */
export interface Notice {
  readonly level: 'info' | 'warn' | 'error'
  readonly event: NoticeEvent
  /** Everything there is to say: what, where, why, and the way out. */
  readonly message: string
  readonly file: string
  /** Counted from 1. */
  readonly line?: number
  /** Where the contents that are not in force have been kept. */
  readonly kept?: string
}

export type OnNotice = (notice: Notice) => void
