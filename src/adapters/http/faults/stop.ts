import type { BodyPlace, Stage } from '../../../core/faults/actions.ts'
import type { Stop } from '../../../core/faults/stops.ts'
import { offsetOf } from './place.ts'

/** How far an answer gets: the stage at which it stops, and the bytes of its body that are sent before. */
export interface AnswerStop {
  readonly stop: Stop
  readonly stage: 'before' | 'before-head' | 'after-head' | 'body' | 'end' | 'idle'
  readonly offset: number
}

const ORDER: readonly AnswerStop['stage'][] = ['before', 'before-head', 'after-head', 'body', 'end', 'idle']

/** Of all stops, the one that an answer reaches first; undefined when it goes out whole. */
export function firstStop(stops: readonly Stop[], body: Buffer, chunked: boolean): AnswerStop | undefined {
  const reached = stops.flatMap((stop) => answerStop(stop, body, chunked) ?? [])
  return reached.toSorted((a, b) => rank(a) - rank(b) || a.offset - b.offset)[0]
}

function rank({ stage }: AnswerStop): number {
  return ORDER.indexOf(stage)
}

function answerStop(stop: Stop, body: Buffer, chunked: boolean): AnswerStop | undefined {
  const { at } = stop
  if (typeof at !== 'string') {
    // A body that was shorter than that has not been stopped.
    if ('request_bytes' in at) return undefined
    return { stop, stage: 'body', offset: offsetOf(at as BodyPlace, body) }
  }
  // Without chunks it is the last byte that ends the body.
  if (at === 'before-last-chunk') {
    return { stop, stage: 'body', offset: chunked ? body.length : Math.max(0, body.length - 1) }
  }
  if (at === 'before-head' || at === 'after-head' || at === 'end' || at === 'idle')
    return { stop, stage: at, offset: 0 }
  // What should have happened by now, and could not: the request met no handler.
  return at === 'accept' ? undefined : { stop, stage: 'before', offset: 0 }
}

/** A stage in words, for the log: `before-head`, `bytes:120`, `line:3 plus_bytes:5`. */
export function stageName(stage: Stage): string {
  if (typeof stage === 'string') return stage
  return Object.entries(stage)
    .map(([name, value]) => `${name}:${value}`)
    .join(' ')
}
