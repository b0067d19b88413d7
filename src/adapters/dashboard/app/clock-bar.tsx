import { signal } from '@preact/signals'
import { EventTally } from '../../../core/time/event-tally.ts'
import { parseDuration } from '../../../core/time/instant.ts'
import type { AdvanceResult } from '../../../index.ts'
import { ask, type Output, wordsOf } from './api.ts'
import { batchName, isUnfinished, useBatches } from './batch-data.ts'
import { after, pageTime } from './browser.ts'
import { dateTime, durationText, numberText, shortId, timeOfDay } from './format.ts'
import { Icon } from './icon.tsx'
import { act, changed, clockState, isLost, lastEvent, ticking } from './live.ts'
import { Menu, MenuForm } from './menu.tsx'
import { toast } from './toasts.ts'
import { Button, moveByArrows } from './ui.tsx'

type Target = Parameters<typeof ask<'POST /clock/advance'>>[1]['body']

/** The advance in progress. `isLong` after 400 ms: only then it gets a button that stops it. */
export const advancing = signal<{ readonly label: string; readonly isLong: boolean } | undefined>(undefined)

/** An advance that has finished. `took`: real milliseconds. */
export type Advance = AdvanceResult & { readonly label: string; readonly took: number }

/** The last advance that has finished. */
export const lastAdvance = signal<Advance | undefined>(undefined)

let stopper: AbortController | undefined

/** Stops the advance in progress. The clock keeps the instant that it has reached. */
export function stopAdvance(): void {
  stopper?.abort()
}

/** Advances virtual time, in calls of at most 1,000 events each, so that it can be stopped in between. */
export async function advanceBy(label: string, target: Record<string, unknown>): Promise<void> {
  if (advancing.value !== undefined || isLost.value) return
  const own = new AbortController()
  stopper = own
  const began = pageTime()
  advancing.value = { label, isLong: false }
  lastEvent.value = undefined
  const cancel = after(400, () => {
    if (advancing.value !== undefined) advancing.value = { label, isLong: true }
  })
  try {
    const body = { ...(await fixed(target)), max_events: 1_000 } as Target
    const tally = new EventTally()
    const next = async (): Promise<AdvanceResult> => {
      const result = await ask('POST /clock/advance', { body, signal: own.signal })
      tally.addAll(result)
      return result
    }
    const { from, ...first } = await next()
    let { to, stopped } = first
    while (stopped !== undefined) ({ to, stopped } = await next())
    lastAdvance.value = { ...tally.result({ from, to }), label, took: pageTime() - began }
  } catch (error) {
    if (own.signal.aborted) toast('info', 'Stopped. The clock stays at the time reached.')
    else toast('error', wordsOf(error))
  }
  cancel()
  advancing.value = undefined
  changed()
}

// Turns a duration into an instant, so that all calls of one advance have the same target.
async function fixed(target: Record<string, unknown>): Promise<Record<string, unknown>> {
  const ms = typeof target.ms === 'number' ? target.ms : undefined
  if (ms === undefined) return target
  const { now } = await ask('GET /clock')
  return { to: new Date(Date.parse(now) + ms).toISOString() }
}

const RATES = [0, 1, 10, 60, 600, 3_600]
const JUMPS = [
  ['+1 m', 60_000],
  ['+1 h', 3_600_000],
  ['+24 h', 86_400_000],
  ['+29 d', 29 * 86_400_000],
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

/** Advances by the duration of the button with this label: `+1 m`. */
export function jump(label: string): void {
  const found = JUMPS.find(([each]) => each === label)
  if (found !== undefined) void advanceBy(label, { ms: found[1] })
}

export function advanceToNext(): void {
  const next = clockState.value?.next
  if (next) void advanceBy('Next event', { to: next.at })
}

export function ClockBar() {
  const shown = clockState.value
  const rate = shown?.rate ?? 0
  const isOff = isLost.value || shown === undefined
  const isBusy = advancing.value !== undefined
  const off = isOff ? 'The emulator is not connected.' : isBusy ? 'Time is being advanced.' : undefined
  return (
    <section class="clock-bar" aria-label="Clock">
      <Now />
      <Button
        icon={rate === 0 ? 'play' : 'pause'}
        label={rate === 0 ? 'Run the clock' : 'Freeze the clock'}
        disabled={off}
        onClick={playOrPause}
      />
      <Menu
        label="Rate of the clock"
        button={<span class="wide-only">{rateLabel(rate)}</span>}
        disabled={off !== undefined}
        items={RATES.map((each) => ({
          label: each === 0 ? 'Frozen' : rateLabel(each),
          hint: each === rate ? 'now' : each === 1 ? 'real time' : undefined,
          run: () => void setRate(each),
        }))}
      >
        {(close) => <OwnRate onDone={close} />}
      </Menu>
      <div class="segments" role="group" aria-label="Advance" onKeyDown={moveByArrows}>
        <button type="button" aria-disabled={off !== undefined} onClick={stepOnce}>
          <Icon name="step" size={14} />
          <span class="wide-only">Step</span>
        </button>
        {JUMPS.map(([label]) => (
          <button
            type="button"
            key={label}
            class={label === '+1 h' ? '' : 'wide-only'}
            aria-disabled={off !== undefined}
            onClick={() => jump(label)}
          >
            {label}
          </button>
        ))}
      </div>
      <Until disabled={off !== undefined} />
      <Advancing />
      {!isBusy && <Next />}
    </section>
  )
}

function Now() {
  const now = ticking.value
  const rate = clockState.value?.rate ?? 0
  const how = isLost.value ? 'last known' : rate === 0 ? 'frozen' : `running at ${rateLabel(rate)}`
  return (
    <div class="now">
      <time dateTime={now === undefined ? undefined : new Date(now).toISOString()}>
        {now === undefined ? '–' : dateTime(now)}
      </time>
      <span>Virtual time, UTC · {how}</span>
    </div>
  )
}

function OwnRate({ onDone }: { onDone: () => void }) {
  const choose = (text: string) => {
    void setRate(Number(text))
    onDone()
  }
  return (
    <MenuForm label="Own rate" action="Set" pattern="[0-9]+(\.[0-9]+)?" placeholder="30" onSubmit={choose} />
  )
}

function Until({ disabled }: { disabled: boolean }) {
  const { data = [] } = useBatches()
  const items = data.filter(isUnfinished).map((batch) => ({
    label: batchName(batch),
    hint: `${shortId(batch.id)} · ${batch.request_counts.total} items`,
    run: () => void advanceBy(`Until ${batchName(batch)} is done`, { until: { batch: batch.id } }),
  }))
  return (
    <span class="until">
      <Menu
        label="Advance until a batch is done"
        button={<span class="wide-only">Until batch is done</span>}
        disabled={disabled}
        items={items}
        empty="There is no unfinished batch."
      >
        {(close) => <OwnTarget onDone={close} />}
      </Menu>
    </span>
  )
}

function OwnTarget({ onDone }: { onDone: () => void }) {
  const go = (text: string) => {
    const ms = parseDuration(text)
    void advanceBy(text, ms === undefined ? { to: instantOf(text) } : { ms })
    onDone()
  }
  const example = '90s, 2h, 2026-12-01T09:00:00Z'
  return <MenuForm label="Duration or instant" action="Go" placeholder={example} onSubmit={go} />
}

// Parses an instant in the format of the clock, which is in UTC.
function instantOf(text: string): string {
  return text.includes('T') ? text : `${text.trim().replace(' ', 'T')}Z`
}

function Advancing() {
  const state = advancing.value
  if (state === undefined) return null
  const at = lastEvent.value?.at
  return (
    <div class="advancing" role="status">
      <span class="progress" />
      <span>
        {state.label}
        {at !== undefined && `, now ${timeOfDay(at)}`}
      </span>
      {state.isLong && <Button onClick={stopAdvance}>Stop</Button>}
    </div>
  )
}

function Next() {
  const next = clockState.value?.next
  const now = ticking.value
  if (!next || now === undefined) {
    return <p class="next">{clockState.value === undefined ? '' : 'Nothing is scheduled.'}</p>
  }
  return (
    <div class="next">
      <p title={next.description}>
        <strong>Next in {durationText(Math.max(0, Date.parse(next.at) - now))}</strong>
        <span>{eventName(next)}</span>
      </p>
      <Button disabled={isLost.value} onClick={advanceToNext} label="Go to the next event">
        Go
      </Button>
    </div>
  )
}

type Future = NonNullable<Output<'GET /clock'>['next']>

/** The first clause of the description of an event. */
export function eventName({ description, kind }: Pick<Future, 'description' | 'kind'>): string {
  const [clause = kind] = description.split(/[,.:;]( |$)/)
  return clause
}
