import { ask, type Output } from '../api.ts'
import type { Column } from '../columns.ts'
import { countOf, durationText, timeOfDay } from '../format.ts'
import { List } from '../list.tsx'
import { act, isLost, ticking } from '../live.ts'
import { useLive } from '../loaded.tsx'
import { Menu } from '../menu.tsx'
import { linkTo } from '../place.ts'
import { texts } from '../table.tsx'
import { Button, Empty, Note, Switch, Tag, ViewHead } from '../ui.tsx'

type Window = Output<'GET /limits'>['data'][number] & { readonly isChanged: boolean }

const teamspaceOf = ({ key }: Window) => key.split(' ')[0] ?? ''

/** Uses up a window, so that this many requests remain. Refused for an operation that was removed. */
function fill(window: Window, remaining: number) {
  const { operation, key } = window
  const body = { remaining, teamspace_id: teamspaceOf(window) }
  return ask('POST /limits/{operation}/fill', { params: { operation: operation ?? key }, body })
}

const change = ({ operation, key, window_s }: Window, limit: number) =>
  ask('PUT /limits/{operation}', { params: { operation: operation ?? key }, body: { limit, window_s } })

const shareOf = ({ used, limit }: Window) => used / limit
const isNear = (window: Window) => window.remaining === 0 || shareOf(window) >= 0.8
const toneOf = (window: Window) => (window.remaining === 0 ? 'full' : isNear(window) ? 'near' : '')

/** When the next request is possible in a window that is nearly full, or when the oldest one leaves it. */
function whenOf(window: Window): string {
  const { oldest_at, reset_at, window_s } = window
  const left = Date.parse(reset_at) - (ticking.value ?? Date.parse(oldest_at))
  if (isNear(window)) return `Next free in ${durationText(Math.max(0, left))}`
  return `oldest leaves at ${timeOfDay(Date.parse(oldest_at) + window_s * 1_000)}`
}

const COLUMNS: readonly Column<Window>[] = [
  {
    label: 'Operation',
    cell: ({ operation, key }) => (
      <a class="mono" href={linkTo('requests', [], { filter: `operation:${operation ?? ''}` })}>
        {operation ?? key}
      </a>
    ),
    sortBy: ({ operation, key }) => operation ?? key,
  },
  texts('Teamspace', teamspaceOf, { width: 168, spare: 2 }),
  { label: 'Used', width: 200, spare: 1, cell: (window) => <Gauge window={window} />, sortBy: shareOf },
  { label: 'Left', width: 112, cell: leftCell, sortBy: ({ remaining }) => remaining },
  { label: 'Until', width: 188, cell: (window) => <span title={whenOf(window)}>{whenOf(window)}</span> },
  { label: '', width: 172, cell: actions },
]

export default function Limits() {
  const { data, notice } = useLive(() => ask('GET /limits'), ['request', 'clock', 'event'])
  if (data === undefined) return notice
  const windows = data.data
    .map((each) => ({
      ...each,
      isChanged: data.overrides.some((other) => other.operation === each.operation),
    }))
    .sort((a, b) => shareOf(b) - shareOf(a))
  const clearAll = () =>
    act(async () => {
      for (const each of windows) if (each.operation !== null) await fill(each, each.limit)
    }, 'Every window is empty.')
  const enforce = () =>
    act(
      () => ask('PATCH /settings', { body: { 'limits.enforced': !data.enforced } }),
      data.enforced ? 'Full windows no longer refuse requests.' : 'Full windows refuse requests.',
    )
  return (
    <>
      <ViewHead
        title="Limits"
        summary={`${countOf(windows.length, 'open window')} · ${data.enforced ? 'enforced' : 'not enforced'}`}
      >
        <Switch label="Enforce limits" on={data.enforced} onToggle={enforce} />
        {windows.length > 0 && <Button text="Clear all" disabled={isLost.value} onClick={clearAll} />}
      </ViewHead>
      {notice}
      {!data.enforced && (
        <Note tone="warn">Full windows do not refuse requests. Headers still count down.</Note>
      )}
      <div class="split">
        <List
          {...{ label: 'Rate windows, the fullest first', noun: 'window', columns: COLUMNS, items: windows }}
          empty={
            <Empty
              icon="gauge"
              title="No window is open"
              text="A rate window of a teamspace and an operation opens with its first request, and ends when its requests have left it."
            />
          }
          idOf={({ key }) => key}
          phone={(window) => [
            <code>{window.operation ?? window.key}</code>,
            `${window.used} of ${window.limit} · ${whenOf(window)}`,
            actions(window),
          ]}
        />
      </div>
    </>
  )
}

function Gauge({ window: own }: { window: Window }) {
  const { operation, used, limit, isChanged } = own
  return (
    <span class="row">
      <span
        class="gauge grow"
        role="meter"
        aria-label={`Used by ${operation}`}
        aria-valuemin={0}
        aria-valuemax={limit}
        aria-valuenow={used}
      >
        <span class={toneOf(own)} style={{ width: `${Math.min(100, shareOf(own) * 100)}%` }} />
      </span>
      {used} of {limit}
      {isChanged && <span class="hint">changed</span>}
    </span>
  )
}

function leftCell(window: Window) {
  if (window.remaining === 0) return <Tag tone="error">full</Tag>
  return isNear(window) ? <Tag tone="warn">{window.remaining} left</Tag> : `${window.remaining} left`
}

function actions(window: Window) {
  const { operation, limit, remaining, window_s } = window
  return (
    <span class="row">
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
          run: () => void act(() => change(window, each), `The limit is ${each}.`),
        }))}
      />
    </span>
  )
}
