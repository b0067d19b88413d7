import { ask, type Output } from '../api.ts'
import { countOf, durationText, timeOfDay } from '../format.ts'
import { Icon } from '../icon.tsx'
import { act, isLost, ticking } from '../live.ts'
import { useLive } from '../loaded.tsx'
import { Menu } from '../menu.tsx'
import { linkTo } from '../place.ts'
import { logRows } from '../requests.ts'
import { Button, Empty, Note, Switch, ViewHead } from '../ui.tsx'

type Window = Output<'GET /limits'>['data'][number]

const SLOTS = 30

const teamspaceOf = ({ key }: Window) => key.split(' ')[0] ?? ''

/** Uses up a window, so that this many requests remain. */
async function fill(window: Window, remaining: number): Promise<void> {
  if (window.operation === null) return
  const params = { operation: window.operation }
  const body = { remaining, teamspace_id: teamspaceOf(window) }
  await ask('POST /limits/{operation}/fill', { params, body })
}

function change(window: Window, limit: number): void {
  if (window.operation === null) return
  const params = { operation: window.operation }
  void act(
    () => ask('PUT /limits/{operation}', { params, body: { limit, window_s: window.window_s } }),
    `The limit is ${limit}.`,
  )
}

export default function Limits() {
  const { data, notice } = useLive(() => ask('GET /limits'), ['request', 'clock', 'event'])
  if (data === undefined) return notice
  const windows = [...data.data].sort((a, b) => b.used / b.limit - a.used / a.limit)
  const clearAll = () =>
    act(async () => {
      for (const window of windows) await fill(window, window.limit)
    }, 'Every window is empty.')
  return (
    <>
      <ViewHead
        title="Limits"
        summary={`${countOf(windows.length, 'open window')} · ${data.enforced ? 'enforced' : 'not enforced'}`}
      >
        <Switch
          label="Enforce limits"
          on={data.enforced}
          onToggle={() =>
            void act(
              () => ask('PATCH /settings', { body: { 'limits.enforced': !data.enforced } }),
              data.enforced ? 'Full windows no longer refuse requests.' : 'Full windows refuse requests.',
            )
          }
        />
        {windows.length > 0 && (
          <Button text="Clear all" disabled={isLost.value} onClick={() => void clearAll()} />
        )}
      </ViewHead>
      <section class="scroll" tabIndex={0} aria-label="Rate windows">
        {notice}
        {!data.enforced && (
          <Note tone="warn">Full windows do not refuse requests. Headers still count down.</Note>
        )}
        {windows.length === 0 ? (
          <Empty
            icon="gauge"
            title="No window is open"
            text="A rate window opens with the first request of an operation, and ends when its requests have left it."
          />
        ) : (
          <>
            <ul class="card rows gauges">
              {windows.map((window) => (
                <Row
                  key={window.key}
                  window={window}
                  isChanged={data.overrides.some(({ operation }) => operation === window.operation)}
                />
              ))}
            </ul>
            <p class="hint pad">
              A window belongs to one teamspace and operation; others appear with their first request. Bars
              show the requests of the log.
            </p>
          </>
        )}
      </section>
    </>
  )
}

function Row({ window, isChanged }: { window: Window; isChanged: boolean }) {
  const { operation, limit, used, remaining, reset_at, oldest_at, window_s } = window
  const now = ticking.value ?? Date.parse(oldest_at)
  const share = used / limit
  const tone = remaining === 0 ? 'full' : share >= 0.8 ? 'near' : ''
  const empty = Date.parse(oldest_at) + window_s * 1_000
  return (
    <li>
      <span class="grow wrap">
        <a class="mono" href={linkTo('requests', [], { filter: `operation:${operation ?? ''}` })}>
          {operation ?? window.key}
        </a>
        <span class="hint">
          {teamspaceOf(window)}
          {isChanged && ' · limit changed'}
        </span>
      </span>
      <span class="gauge-bar">
        <span class="gauge-words row small dim">
          <span>
            <strong>{used}</strong> of {limit} used
          </span>
          <span class={tone}>
            {tone !== '' && <Icon name={tone === 'full' ? 'error' : 'warn'} size={14} />}{' '}
            {tone === 'full' ? 'full' : `${remaining} left`}
          </span>
        </span>
        <span
          class="gauge"
          role="meter"
          aria-label={`Used by ${operation}`}
          aria-valuemin={0}
          aria-valuemax={limit}
          aria-valuenow={used}
        >
          <span class={tone} style={{ width: `${Math.min(100, share * 100)}%` }} />
        </span>
      </span>
      <Bars operation={operation} now={now} span={window_s * 1_000} />
      <span class="gauge-when small">
        {tone !== '' && <strong>Next free in {durationText(Math.max(0, Date.parse(reset_at) - now))}</strong>}
        <span class="hint">oldest leaves at {timeOfDay(empty)}</span>
      </span>
      <span class="row-actions">
        <Button
          text="Fill"
          disabled={remaining === 0}
          onClick={() => void act(() => fill(window, 0), `${operation} is full. Next request: 429.`)}
        />
        <Button text="Clear" onClick={() => void act(() => fill(window, limit), `${operation} is empty.`)} />
        <Menu
          label={`Change the limit of ${operation}`}
          items={[10, 60, 200, 1_000].map((each) => ({
            label: `Limit ${each} in ${window_s} s`,
            run: () => change(window, each),
          }))}
        />
      </span>
    </li>
  )
}

/** The requests of the last window in thirty slots, the oldest at the left. */
function Bars({ operation, now, span }: { operation: string | null; now: number; span: number }) {
  const counts = new Array<number>(SLOTS).fill(0)
  for (const row of logRows.value.entries) {
    const age = now - Date.parse(row.at)
    if (age >= span) break
    const slot = SLOTS - 1 - Math.floor((age / span) * SLOTS)
    if (row.operation === operation && slot >= 0 && slot < SLOTS) counts[slot] = (counts[slot] ?? 0) + 1
  }
  const most = counts.reduce((most, count) => Math.max(most, count), 4)
  return (
    <span class="bars" aria-hidden="true">
      {counts.map((count, slot) => (
        <span
          key={slot}
          style={{ height: `${count === 0 ? 1 : Math.max(3, (20 * count) / most)}px` }}
          class={count === 0 ? 'none' : ''}
        />
      ))}
    </span>
  )
}
