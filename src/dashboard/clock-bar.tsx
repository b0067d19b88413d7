import { signal } from '@preact/signals'
import { EmulatorError } from '../control-client/emulator-error.ts'
import { parseDuration } from '../core/time/instant.ts'
import { ask, wordsOf } from './api.ts'
import { type BatchRow, batchName, isUnfinished, useBatches } from './batch-data.ts'
import { after } from './browser.ts'
import { dateTime, durationText, numberText, shortId, timeOfDay } from './format.ts'
import { Icon } from './icon.tsx'
import { act, changed, clockState, isLost, lastEvent, missingSandbox, ticking } from './live.ts'
import { Menu } from './menu.tsx'
import { toast } from './toasts.ts'
import { Button, moveByArrows } from './ui.tsx'

type Target = Parameters<typeof ask<'POST /clock/advance'>>[1]['body']

/** The advance in progress. It can be stopped after 400 ms; the clock then keeps the instant that it has reached. */
const advancing = signal<{ readonly label: string; readonly stop?: () => void } | undefined>(undefined)

/** Advances to an instant that the page shows as future. A running clock may have passed it by then, which is no error. */
export function goToInstant(at: string, label: string): void {
  void advanceBy(label, { to: at }, 'The running clock has already passed this instant.')
}

/** Advances virtual time. @param passed shown instead of an error when the clock is already beyond the target */
async function advanceBy(label: string, target: Record<string, unknown>, passed?: string): Promise<void> {
  if (advancing.value !== undefined || isLost.value) return
  const own = new AbortController()
  advancing.value = { label }
  lastEvent.value = undefined
  const cancel = after(400, () => {
    advancing.value = { label, stop: () => own.abort() }
  })
  try {
    const body = { ...target, max_events: 1_000_000 } as Target
    const { stopped } = await ask('POST /clock/advance', { body, signal: own.signal })
    if (stopped !== undefined) toast('info', '1,000,000 events have run. Advance again to continue.')
  } catch (error) {
    if (own.signal.aborted) toast('info', 'Stopped. The clock stays at the time reached.')
    else if (passed !== undefined && (await isBeyond(String(target.to), error))) toast('info', passed)
    else toast('error', wordsOf(error))
  }
  cancel()
  advancing.value = undefined
  changed()
}

/** Advances to the end of an unfinished batch. */
export function advanceToEnd(batch: BatchRow): void {
  void advanceBy(`Until ${batchName(batch)} is done`, { until: { batch: batch.id } })
}

async function isBeyond(instant: string, error: unknown): Promise<boolean> {
  if (!(error instanceof EmulatorError) || error.status !== 409) return false
  return Date.parse((await ask('GET /clock')).now) > Date.parse(instant)
}

export const RATES = [0, 1, 10, 60, 600, 3_600]
/** Durations by which a click advances, and their buttons: a phone has only +1 h, a tablet no day. */
export const JUMPS = [
  ['1m', '+1 m', 'wide-only'],
  ['1h', '+1 h', ''],
  ['24h', '+24 h', 'desk-only'],
  ['29d', '+29 d', 'desk-only'],
] as const

export const rateLabel = (rate: number) => (rate === 0 ? 'frozen' : `${numberText(rate)}×`)

/** Sets how fast time passes. */
export function setRate(rate: number): Promise<boolean> {
  return act(() => ask('PATCH /clock', { body: { rate } }))
}

/** The rate to return to when a frozen clock is started. */
let lastRate = 1

export function playOrPause(): void {
  const rate = clockState.value?.rate ?? 0
  if (rate > 0) lastRate = rate
  void setRate(rate > 0 ? 0 : lastRate)
}

export function stepOnce(): void {
  void advanceBy('Step', { steps: 1 })
}

/** Advances by a duration: `1m`. */
export function jump(by: string): void {
  void advanceBy(`+${by}`, { by })
}

export function advanceToNext(): void {
  const next = clockState.value?.next
  if (next) goToInstant(next.at, 'Next event')
}

/** Why the clock cannot be changed; undefined if it can. */
function problemOfClock(): string | undefined {
  if (missingSandbox.value !== undefined) return 'There is no such sandbox.'
  if (isLost.value || clockState.value === undefined) return 'The emulator is not connected.'
  return advancing.value && 'Time is being advanced.'
}

export function ClockBar() {
  const { data: batches = [] } = useBatches()
  const rate = clockState.value?.rate ?? 0
  const problem = problemOfClock()
  const isOff = problem !== undefined
  return (
    <section class="clock-bar" aria-label="Clock">
      <Now />
      <Button
        icon={rate === 0 ? 'play' : 'pause'}
        label={rate === 0 ? 'Run the clock' : 'Freeze the clock'}
        disabled={problem}
        onClick={playOrPause}
      />
      <Menu
        label="Rate of the clock"
        button={rateLabel(rate)}
        disabled={isOff}
        items={RATES.map((each) => ({
          label: each === 0 ? 'Frozen' : rateLabel(each),
          hint: each === rate ? 'now' : each === 1 ? 'real time' : undefined,
          run: () => void setRate(each),
        }))}
        form={{
          label: 'Own rate',
          action: 'Set',
          field: { placeholder: '30', pattern: '[0-9]+(\\.[0-9]+)?' },
          onSubmit: (text) => void setRate(Number(text)),
        }}
      />
      <div class="segments" role="group" aria-label="Advance" onKeyDown={moveByArrows}>
        <button type="button" aria-disabled={isOff} onClick={stepOnce}>
          <Icon name="step" size={14} />
          Step
        </button>
        {JUMPS.map(([by, label, width]) => (
          <button type="button" key={by} class={width} aria-disabled={isOff} onClick={() => jump(by)}>
            {label}
          </button>
        ))}
      </div>
      <span class="until">
        <Menu
          label="Advance until a batch is done"
          button={
            <>
              <Icon name="flag" size={14} />
              Until batch is done
            </>
          }
          disabled={isOff}
          items={batches.filter(isUnfinished).map((batch) => ({
            label: batchName(batch),
            hint: `${shortId(batch.id)} · ${batch.request_counts.total} items`,
            run: () => advanceToEnd(batch),
          }))}
          empty="There is no unfinished batch."
          form={{
            label: 'Duration or instant',
            action: 'Go',
            field: { placeholder: '90s, 2h, 2026-12-01T09:00:00Z' },
            onSubmit: (text) => void advanceBy(text, targetOf(text)),
          }}
        />
      </span>
      <Advancing />
      {advancing.value === undefined && <Next />}
    </section>
  )
}

/** The target of an advance that a user writes: a duration, or an instant in the format of the clock, which is in UTC. */
function targetOf(text: string) {
  if (parseDuration(text) !== undefined) return { by: text }
  return { to: text.includes('T') ? text : `${text.trim().replace(' ', 'T')}Z` }
}

function Now() {
  const now = ticking.value
  const rate = clockState.value?.rate ?? 0
  const how = isLost.value ? 'last known' : rate === 0 ? 'frozen' : `running at ${rateLabel(rate)}`
  const [date, time] = now === undefined ? ['', '–'] : dateTime(now).split(' ')
  return (
    <div class="now">
      <time dateTime={date && `${date}T${time}Z`}>
        <span class="wide-only">{date && `${date} `}</span>
        {time}
      </time>
      <span class="wide-only">Virtual time, UTC</span>
      <span class="phone-only">{date}</span> · {how}
    </div>
  )
}

function Advancing() {
  const state = advancing.value
  if (state === undefined) return null
  const at = lastEvent.value
  return (
    <div class="advancing row push small dim wide-only" role="status">
      <span class="progress" />
      <span>
        {state.label}
        {at !== undefined && `, now ${timeOfDay(at)}`}
      </span>
      {state.stop && <Button text="Stop" onClick={state.stop} />}
    </div>
  )
}

function Next() {
  const next = clockState.value?.next
  const now = ticking.value
  if (!next || now === undefined)
    return <p class="next row push hint wide-only">{clockState.value && 'Nothing is scheduled.'}</p>
  return (
    <div class="next row push small wide-only">
      <p class="grow" title={next.description}>
        <strong>Next in {durationText(Math.max(0, Date.parse(next.at) - now))}</strong>
        <span class="cut dim">{eventName(next)}</span>
      </p>
      <Button text="Go" disabled={isLost.value} onClick={advanceToNext} label="Go to the next event" />
    </div>
  )
}

/** The first clause of the description of an event. */
export function eventName({ description, kind }: Record<'description' | 'kind', string>): string {
  const [clause = kind] = description.split(/[,.:;]( |$)/)
  return clause
}
