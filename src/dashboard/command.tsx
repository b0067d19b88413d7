import { useMemo, useState } from 'preact/hooks'
import { ask } from './api.ts'
import { type BatchRow, batchName, batchTitle, isUnfinished, useBatches } from './batch-data.ts'
import { advanceToEnd, JUMPS, jump, playOrPause, RATES, rateLabel, setRate, stepOnce } from './clock-bar.tsx'
import { isCommandOpen } from './dialogs.tsx'
import { shortId } from './format.ts'
import { Icon, type IconName } from './icon.tsx'
import { subscribeInbox } from './inbox.tsx'
import { act, virtualNow } from './live.ts'
import { useLive } from './loaded.tsx'
import { goTo, here, linkIn, linkTo } from './place.ts'
import { logRows, saveRecording } from './requests.ts'
import { exportRecords, resetSandbox, restoreSnapshot } from './sandbox-actions.tsx'
import { nextTheme } from './theme.ts'
import { showModal } from './ui.tsx'
import { views } from './views.ts'

type Group = 'Actions' | 'Views' | 'Batches' | 'Requests' | Found

/** The groups that are loaded when the dialog opens. */
type Found = 'Records' | 'Presets' | 'Scenarios' | 'Snapshots' | 'Sandboxes' | 'Settings'

interface Choice {
  readonly group: Group
  readonly label: string
  readonly hint: string
  readonly icon: IconName
  readonly run: () => void
}

const PER_GROUP = 5

/** The labels that were chosen last, shown while the field is empty. */
const recent: string[] = []

type Offered = readonly [label: string, icon: IconName, run: () => void, hint?: string]

type Link = Parameters<typeof linkTo>

const opens = (label: string, icon: IconName, link: Link, hint = ''): Offered => [
  label,
  icon,
  () => goTo(linkTo(...link)),
  hint,
]
const acts = (work: () => Promise<unknown>, done: string) => () => void act(work, done)
const sets = (key: string, value: unknown) =>
  acts(() => ask('PATCH /settings', { body: { [key]: value } as never }), `${key} is ${value}.`)

const ACTIONS: readonly Offered[] = [
  ['Step to the next event', 'step', stepOnce, '.'],
  ['Run or freeze the clock', 'play', playOrPause, 'Space'],
  ...JUMPS.map(([by, label]): Offered => [`Advance ${label}`, 'step', () => jump(by)]),
  ...RATES.map((rate): Offered => [`Clock ${rateLabel(rate)}`, 'clock', () => void setRate(rate)]),
  opens('Write a fault rule', 'bolt', ['faults', ['new']]),
  ['Clear all fault rules', 'trash', acts(() => ask('DELETE /faults'), 'All rules are removed.')],
  opens('Write a record', 'plus', ['data', ['pages', 'new']]),
  opens('Import records, or compare snapshots', 'data', ['data']),
  ['Export the records', 'download', exportRecords],
  ['Reset the sandbox', 'again', resetSandbox],
  ['Save a snapshot', 'plus', acts(saveSnapshot, 'The snapshot is saved.')],
  ['Save the recording', 'download', () => void saveRecording()],
  ['Empty the request log', 'trash', acts(() => ask('DELETE /requests'), 'The log is empty.')],
  opens('Add an endpoint for webhooks', 'bell', ['webhooks', [], { tab: 'subscriptions' }]),
  ['Use the inbox', 'inbox', subscribeInbox],
  ['Enforce the limits', 'gauge', sets('limits.enforced', true)],
  ['Do not enforce the limits', 'gauge', sets('limits.enforced', false)],
  [
    'Validate the scenarios',
    'scenarios',
    acts(() => ask('POST /scenarios'), 'The scripts are loaded again.'),
  ],
  ['Stop the scenario', 'pause', acts(() => ask('POST /scenarios/stop'), 'The scenario is stopped.')],
  ['Change the colours', 'moon', nextTheme, 't'],
]

function saveSnapshot(): Promise<unknown> {
  const name = `saved-${new Date(virtualNow() ?? 0).toISOString().slice(0, 19).replaceAll(/[T:]/g, '-')}`
  return ask('POST /snapshots', { body: { name } })
}

/** What other views show, for the search. */
async function load(): Promise<Readonly<Record<Found, readonly Offered[]>>> {
  const [state, presets, scenarios, snapshots, sandboxes, settings] = await Promise.all([
    ask('GET /state'),
    ask('GET /fault-presets'),
    ask('GET /scenarios'),
    ask('GET /snapshots'),
    ask('GET /sandboxes'),
    ask('GET /assumptions'),
  ])
  const records = Object.entries(
    state.collections as Record<string, readonly { id: string; name?: string }[]>,
  )
  return {
    Records: records.flatMap(([collection, rows]) =>
      rows.map(({ id, name }) =>
        opens(id, 'data', ['data', [collection, id]], `${collection} ${name ?? ''}`),
      ),
    ),
    Presets: presets.data.map(({ name }) => {
      const body = { preset: name }
      return [`Arm ${name}`, 'bolt', acts(() => ask('POST /faults', { body }), `${name} is armed.`)]
    }),
    Scenarios: scenarios.data.map(({ name, description }) =>
      opens(name, 'scenarios', ['scenarios', [name]], description ?? ''),
    ),
    Snapshots: snapshots.data.map(({ name, saved_at }) => [
      `Restore ${name}`,
      'again',
      () => restoreSnapshot(name, saved_at),
    ]),
    Sandboxes: sandboxes.data.map(({ name }) => [
      name,
      'sandboxes',
      () => goTo(linkIn(name, here.value.view)),
      'sandbox',
    ]),
    Settings: settings.data.flatMap(({ id, settings: own }) =>
      own.map(({ key }) => opens(key, 'settings', ['settings', [], { filter: key }], id)),
    ),
  }
}

function choicesOf(
  batches: readonly BatchRow[],
  found: Partial<Record<Found, readonly Offered[]>>,
): readonly Choice[] {
  const unfinished = batches.filter(isUnfinished)
  const offered: Readonly<Partial<Record<Group, readonly Offered[]>>> = {
    Actions: [
      ...ACTIONS,
      ...unfinished.map(
        (each): Offered => [`Advance until ${batchName(each)} is done`, 'step', () => advanceToEnd(each)],
      ),
    ],
    Views: views.map(({ name, title, icon, key }) => opens(title, icon, [name], `g ${key}`)),
    Batches: batches.map((batch) =>
      opens(batchTitle(batch), 'batches', ['batches', [batch.id]], `${shortId(batch.id)} ${batch.status}`),
    ),
    Requests: logRows
      .peek()
      .entries.slice(0, 500)
      .map(({ id, method, path, status }) =>
        opens(`${method} ${path}`, 'requests', ['requests', [id]], `${status} ${id}`),
      ),
    ...found,
  }
  return Object.entries(offered).flatMap(([group, all]) =>
    all.map(([label, icon, run, hint = '']) => ({ group: group as Group, label, icon, run, hint })),
  )
}

function matching(choices: readonly Choice[], text: string): readonly Choice[] {
  const words = text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
  if (words.length === 0) {
    const last = recent.flatMap((label) => choices.find((choice) => choice.label === label) ?? [])
    return [
      ...last,
      ...choices.filter(
        (choice) => ['Actions', 'Views', 'Batches'].includes(choice.group) && !last.includes(choice),
      ),
    ].slice(0, 10)
  }
  const counts = new Map<string, number>()
  return choices.filter(({ group, label, hint }) => {
    const isFit = words.every((word) => `${label} ${hint}`.toLowerCase().includes(word))
    if (!isFit || (counts.get(group) ?? 0) >= PER_GROUP) return false
    counts.set(group, (counts.get(group) ?? 0) + 1)
    return true
  })
}

export function CommandDialog() {
  const [text, setText] = useState('')
  const [at, setAt] = useState(0)
  const { data: batches = [] } = useBatches()
  const { data: found } = useLive(load, [])
  const choices = useMemo(() => choicesOf(batches, found ?? {}), [batches, found])
  const shown = matching(choices, text)
  const close = () => {
    isCommandOpen.value = false
  }
  const run = (choice: Choice | undefined) => {
    if (choice === undefined) return
    const at = recent.indexOf(choice.label)
    if (at >= 0) recent.splice(at, 1)
    recent.unshift(choice.label)
    recent.splice(5)
    close()
    choice.run()
  }
  const move = (by: number) => setAt((at + by + shown.length) % Math.max(1, shown.length))
  return (
    <dialog
      ref={showModal}
      class="command"
      aria-label="Search and run"
      onClose={close}
      onClick={(event) => event.target === event.currentTarget && close()}
    >
      <input
        role="combobox"
        aria-label="Search and run"
        aria-expanded="true"
        aria-controls="choices"
        aria-activedescendant={shown.length === 0 ? undefined : `choice-${at}`}
        placeholder="Search everything, or run an action"
        autocomplete="off"
        spellcheck={false}
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value)
          setAt(0)
        }}
        onKeyDown={(event) => {
          if (event.key === 'ArrowDown') move(1)
          else if (event.key === 'ArrowUp') move(-1)
          else if (event.key === 'Enter') run(shown[at])
          else return
          event.preventDefault()
        }}
      />
      <div id="choices" role="listbox" aria-label="Found">
        {shown.map((choice, index) => (
          <div key={choice.group + choice.label + choice.hint}>
            {choice.group !== shown[index - 1]?.group && (
              <p class="group" role="presentation">
                {choice.group}
              </p>
            )}
            <div
              id={`choice-${index}`}
              class="choice row"
              role="option"
              aria-selected={index === at}
              tabIndex={-1}
              onClick={() => run(choice)}
              onPointerMove={() => index !== at && setAt(index)}
            >
              <Icon name={choice.icon} />
              <span class="cut">{choice.label}</span>
              <span class="hint push">{choice.hint}</span>
            </div>
          </div>
        ))}
      </div>
      {shown.length === 0 && <p class="pad hint">Nothing matches "{text}".</p>}
      <p class="strip line-above fixed hint">
        <kbd>↑</kbd> <kbd>↓</kbd> choose <kbd>Enter</kbd> run <kbd>Esc</kbd> close
      </p>
    </dialog>
  )
}
