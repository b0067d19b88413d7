const HOUR = 3_600_000
const DAY = 24 * HOUR

/** The pace of the model: all ways to end a batch can fall on the same instant. */
export const MODEL_PACE = {
  validating: '4h',
  in_progress: { per_item: '4h', concurrency: 1 },
  finalizing: '1h',
}
export const MODEL_CANCEL_DELAY = '30m'
const VALIDATING = 4 * HOUR
const PER_ITEM = 4 * HOUR
const FINALIZING = HOUR
const CANCELLING = HOUR / 2

/** The expected state of one batch, computed event by event and item by item; the emulator uses arithmetic instead. */
export interface ModelBatch {
  readonly created: number
  readonly total: number
  status: string
  /** Its states so far, in order. */
  readonly path: string[]
  /** State timestamps, by state. */
  readonly reached: Record<string, number>
  finished: number
  cleaned: boolean
}

export function modelBatch(created: number, total: number): ModelBatch {
  const start = { status: 'validating', path: ['validating'], reached: {}, finished: 0, cleaned: false }
  return { created, total, ...start }
}

export const isOver = (batch: ModelBatch) =>
  ['completed', 'failed', 'expired', 'cancelled'].includes(batch.status)

export function enter(batch: ModelBatch, status: string, at: number): void {
  batch.status = status
  batch.path.push(status)
  batch.reached[status] = at
}

/** Advances a batch up to and including an instant. */
export function passTime(batch: ModelBatch, to: number): void {
  for (;;) {
    const next = nextOf(batch)
    if (next === undefined || next.at > to) return
    next.happen(next.at)
  }
}

interface Next {
  readonly at: number
  readonly happen: (at: number) => void
}

function nextOf(batch: ModelBatch): Next | undefined {
  const since = batch.reached[batch.status] ?? batch.created
  const into = (status: string, at: number): Next => ({ at, happen: (when) => enter(batch, status, when) })
  switch (batch.status) {
    case 'validating':
      return into('in_progress', since + VALIDATING)
    case 'in_progress': {
      if (batch.finished === batch.total) return into('finalizing', since + batch.total * PER_ITEM)
      const finish: Next = {
        at: since + (batch.finished + 1) * PER_ITEM,
        happen: () => void batch.finished++,
      }
      const end = into('expired', batch.created + DAY)
      return finish.at <= end.at ? finish : end
    }
    case 'finalizing':
      return into('completed', since + FINALIZING)
    case 'cancelling':
      return into('cancelled', since + CANCELLING)
    default:
      return batch.cleaned
        ? undefined
        : { at: batch.created + 29 * DAY, happen: () => void Object.assign(batch, { cleaned: true }) }
  }
}

/** The expected `request_counts`. */
export function modelCounts({ status, total, finished }: ModelBatch): Record<string, number> {
  const rest = total - finished
  const become = { failed: 'errored', expired: 'expired', cancelled: 'canceled' }[status] ?? 'processing'
  const counts = { total, processing: 0, succeeded: finished, errored: 0, canceled: 0, expired: 0 }
  return { ...counts, [become]: rest }
}
