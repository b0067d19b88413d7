/** Events in the files of a sandbox that are reported to the user. */
type NoticeEvent =
  | 'edit_taken'
  | 'edit_refused'
  | 'went_back'
  | 'records_set_aside'
  | 'recovered'
  | 'migrated'
  | 'file_removed'
  | 'file_corrupt'
  | 'journal_torn'
  | 'journal_corrupt'
  | 'journal_orphaned'
  | 'journal_lost'
  | 'checkpoint_failed'
  | 'checkpoint_recovered'
  | 'watch_failed'
  | 'lock_waiting'
  | 'lock_lost'
  | 'lock_unwatched'
  | 'lock_left'
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

export const MAX_SHOWN = 5

/** The first five of these texts, and how many more there are. */
export function shortList(texts: readonly string[], separator: string): string {
  const more = texts.length > MAX_SHOWN ? [`and ${texts.length - MAX_SHOWN} more`] : []
  return [...texts.slice(0, MAX_SHOWN), ...more].join(separator)
}
