import type { ComponentChildren } from 'preact'
import type { IconName } from './icon.tsx'
import type { LogRow } from './requests.ts'
import { Tag, type Tone } from './ui.tsx'

/** The status of a response as a tag, or how a fault ended its connection, with icon, word and colour. */
export function Status({ row: { status, end } }: { row: Pick<LogRow, 'status' | 'end'> }) {
  return <Tag tone={toneOf(end === null ? status : 0)}>{end ?? (status === 0 ? 'cut' : status)}</Tag>
}

export function toneOf(status: number): Tone {
  if (status === 429) return 'warn'
  if (status === 0 || status >= 400) return 'error'
  return status >= 300 ? 'info' : 'ok'
}

const STATES: Readonly<Record<string, readonly [Tone, IconName]>> = {
  validating: ['info', 'clock'],
  in_progress: ['accent', 'progress'],
  finalizing: ['accent', 'progress'],
  cancelling: ['neutral', 'cancelled'],
  cancelled: ['neutral', 'cancelled'],
  canceled: ['neutral', 'cancelled'],
  completed: ['ok', 'ok'],
  succeeded: ['ok', 'ok'],
  delivered: ['ok', 'ok'],
  partial: ['warn', 'warn'],
  failed: ['error', 'error'],
  errored: ['error', 'error'],
  expired: ['warn', 'flag'],
  held: ['info', 'pause'],
  pending: ['neutral', 'clock'],
  scheduled: ['neutral', 'clock'],
  processing: ['neutral', 'progress'],
  retrying: ['warn', 'again'],
  armed: ['accent', 'bolt'],
}

/** The tone and the icon for the name of a state. */
export function stateLook(state: string): readonly [Tone, IconName] {
  return STATES[state] ?? ['neutral', 'minus']
}

export function StateTag({ state, children }: { state: string; children?: string | undefined }) {
  const [tone, icon] = stateLook(state)
  return (
    <Tag tone={tone} icon={icon}>
      {children ?? state}
    </Tag>
  )
}

/** Shows that the page that has sent a request cannot read the response. */
export function CorsTag({ row: { cors } }: { row: Pick<LogRow, 'cors'> }) {
  if (cors === undefined) return null
  return (
    <Tag tone="warn">
      <span class="cut" title={`${cors.detail} ${cors.mitigation}`}>
        blocked by CORS
      </span>
    </Tag>
  )
}

/** The fault rules that fired on a request. */
export function FaultTag({ ids }: { ids: readonly string[] }) {
  if (ids.length === 0) return <span class="hint">–</span>
  return (
    <Tag tone="warn" icon="bolt">
      <span class="cut" title={ids.join(', ')}>
        {ids.join(', ')}
      </span>
    </Tag>
  )
}

/** The marks of a picture, by their classes, and what each of them means. */
export function Legend(props: { marks: Readonly<Record<string, string>>; children?: ComponentChildren }) {
  return (
    <p class="row wraps strip small dim">
      {Object.entries(props.marks).map(([classes, meaning]) => (
        <span key={classes} class="row">
          <i class={`key ${classes}`} /> {meaning}
        </span>
      ))}
      {props.children}
    </p>
  )
}
