/** Events in the files of a sandbox that are reported to the user. */
type NoticeEvent =
  | 'edit_taken'
  | 'edit_refused'
  | 'file_removed'
  | 'journal_torn'
  | 'journal_discarded'
  | 'journal_lost'
  | 'checkpoint_failed'
  | 'checkpoint_recovered'
  | 'watch_failed'
  | 'lock_waiting'
  | 'lock_lost'
  | 'snapshot_damaged'
  | 'snapshots_orphaned'

/** One report about the files. */
export interface StorageNotice {
  readonly level: 'info' | 'warn' | 'error'
  readonly event: NoticeEvent
  /** The problem, its place, its cause and its fix. */
  readonly message: string
  readonly file: string
  /** Counted from 1. */
  readonly line?: number
  /** The file that keeps content which the sandbox does not use. */
  readonly kept?: string
}

export type OnNotice = (notice: StorageNotice) => void
