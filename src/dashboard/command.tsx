import { useMemo, useState } from 'preact/hooks'
import { groupBy } from '../core/conduct/observed.ts'
import { ask } from './api.ts'
import { type BatchRow, batchName, batchTitle, isUnfinished, useBatches } from './batch-data.ts'
import { advanceToEnd, JUMPS, jump, playOrPause, RATES, rateLabel, setRate, stepOnce } from './clock-bar.tsx'
import { searched } from './dialogs.tsx'
import { dateTime, shortId } from './format.ts'
import { Icon, type IconName } from './icon.tsx'
import { subscribeInbox } from './inbox.tsx'
import { act, virtualNow } from './live.ts'
import { useLive } from './loaded.tsx'
import { goTo, here, linkIn, linkTo } from './place.ts'
import type { AnyRecord } from './record-editor.tsx'
import { logRows, saveRecording } from './requests.ts'
import { exportRecords, resetSandbox, restoreSnapshot } from './sandbox-actions.tsx'
import { nextTheme } from './theme.ts'
import { showModal } from './ui.tsx'
import { views } from './views.ts'

type Choice = ReturnType<typeof choice>

const PER_GROUP = 5

/** The labels that were chosen last, shown while the field is empty. */
let recent: readonly string[] = []

function choice(group: string, label: string, icon: IconName, run: () => void, hint = '') {
  return { group, label, icon, run, hint }
}
const action = (label: string, icon: IconName, run: () => void, hint?: string) =>
  choice('Actions', label, icon, run, hint)
const acting = (label: string, icon: IconName, work: () => Promise<unknown>, done: string) =>
  action(label, icon, () => void act(work, done))
type Place = Parameters<typeof linkTo>
const opens = (group: string, label: string, hint: string, icon: IconName, ...place: Place) =>
  choice(group, label, icon, () => goTo(linkTo(...place)), hint)
const inSandbox = (name: string, label = name) =>
  choice('Sandboxes', label, 'sandboxes', () => goTo(linkIn(name, here.value.view)), `sandbox ${name}`)
const validate = () => ask('POST /scenarios')
const enforce = (on: boolean) => () => ask('PATCH /settings', { body: { 'limits.enforced': on } })

const ACTIONS: readonly Choice[] = [
  action('Step to the next event', 'step', stepOnce, '.'),
  action('Run or freeze the clock', 'play', playOrPause, 'Space'),
  ...JUMPS.map(([by, label]) => action(`Advance ${label}`, 'step', () => jump(by))),
  ...RATES.map((rate) => action(`Clock ${rateLabel(rate)}`, 'clock', () => void setRate(rate))),
  opens('Actions', 'Write a fault rule', '', 'bolt', 'faults', ['new']),
  acting('Clear all fault rules', 'trash', () => ask('DELETE /faults'), 'All rules are removed.'),
  opens('Actions', 'Write a record', '', 'plus', 'data', ['pages', 'new']),
  opens('Actions', 'Import records, or compare snapshots', '', 'data', 'data'),
  action('Export the records', 'download', exportRecords),
  action('Reset the sandbox', 'again', resetSandbox),
  acting('Save a snapshot', 'plus', saveSnapshot, 'The snapshot is saved.'),
  action('Save the recording', 'download', () => void saveRecording()),
  acting('Empty the request log', 'trash', () => ask('DELETE /requests'), 'The log is empty.'),
  opens('Actions', 'Add an endpoint for webhooks', '', 'bell', 'webhooks', [], { tab: 'subscriptions' }),
  action('Use the inbox', 'inbox', subscribeInbox),
  acting('Enforce the limits', 'gauge', enforce(true), 'Full windows refuse requests.'),
  acting('Do not enforce the limits', 'gauge', enforce(false), 'Full windows no longer refuse requests.'),
  acting('Validate the scenarios', 'scenarios', validate, 'The scripts are loaded again.'),
  acting('Stop the scenario', 'pause', () => ask('POST /scenarios/stop'), 'The scenario is stopped.'),
  action('Change the colours', 'moon', nextTheme, 't'),
]

function saveSnapshot(): Promise<unknown> {
  const name = `saved-${dateTime(virtualNow() ?? 0).replaceAll(/[ :]/g, '-')}`
  return ask('POST /snapshots', { body: { name } })
}

/** What other views show. It is loaded when the dialog opens. */
async function load(): Promise<readonly Choice[]> {
  const [state, presets, scenarios, snapshots, sandboxes, settings] = await Promise.all([
    ask('GET /state'),
    ask('GET /fault-presets'),
    ask('GET /scenarios'),
    ask('GET /snapshots'),
    ask('GET /sandboxes'),
    ask('GET /assumptions'),
  ])
  const arm = (preset: string) => () =>
    void act(() => ask('POST /faults', { body: { preset } }), `${preset} is armed.`)
  return [
    ...Object.entries(state.collections as Record<string, readonly AnyRecord[]>).flatMap(
      ([collection, rows]) =>
        rows.map(({ id, name = '' }) =>
          opens('Records', id, `${collection} ${name}`, 'data', 'data', [collection, id]),
        ),
    ),
    ...presets.data.map(({ name }) => choice('Presets', `Arm ${name}`, 'bolt', arm(name))),
    ...scenarios.data.map(({ name }) =>
      opens('Scenarios', name, 'scenario', 'scenarios', 'scenarios', [name]),
    ),
    ...snapshots.data.map(({ name, saved_at }) =>
      choice('Snapshots', `Restore ${name}`, 'again', () => restoreSnapshot(name, saved_at), 'snapshot'),
    ),
    ...sandboxes.data.map(({ name }) => inSandbox(name)),
    ...settings.data.flatMap(({ id, settings: own }) =>
      own.map(({ key }) => opens('Settings', key, id, 'settings', 'settings', [], { filter: key })),
    ),
  ]
}

function choicesOf(batches: readonly BatchRow[]): readonly Choice[] {
  return [
    ...ACTIONS,
    ...batches
      .filter(isUnfinished)
      .map((each) => action(`Advance until ${batchName(each)} is done`, 'step', () => advanceToEnd(each))),
    ...views.map(({ name, title, icon, key }) => opens('Views', title, `g ${key}`, icon, name)),
    ...batches.map((batch) => {
      const { id, status } = batch
      return opens('Batches', batchTitle(batch), `${shortId(id)} ${status}`, 'batches', 'batches', [id])
    }),
    ...logRows.value.entries
      .slice(0, 500)
      .map(({ id, method, path, status }) =>
        opens('Requests', `${method} ${path}`, `${status} ${id}`, 'requests', 'requests', [id]),
      ),
  ]
}

const FIRST = ['Actions', 'Views', 'Batches']

function matching(choices: readonly Choice[], text: string): readonly Choice[] {
  const words = text.toLowerCase().match(/\S+/g)
  if (words === null) {
    const last = recent.flatMap((label) => choices.find((choice) => choice.label === label) ?? [])
    const others = choices.filter((each) => FIRST.includes(each.group) && !last.includes(each))
    return [...last, ...others].slice(0, 10)
  }
  const found = choices.filter(({ label, hint }) => {
    const text = `${label} ${hint}`.toLowerCase()
    return words.every((word) => text.includes(word))
  })
  return [...groupBy(found, ({ group }) => group).values()].flatMap((each) => each.slice(0, PER_GROUP))
}

export function CommandDialog() {
  const [text, setText] = useState(searched.peek() ?? '')
  const [at, setAt] = useState(0)
  const { data: batches = [] } = useBatches()
  const { data: found = [] } = useLive(load, [])
  const choices = useMemo(() => [...choicesOf(batches), ...found], [batches, found])
  const [, name = ''] = /^sandbox ([a-z0-9][a-z0-9-]*)$/.exec(text) ?? []
  const isNew = name !== '' && !choices.some(({ group, label }) => group === 'Sandboxes' && label === name)
  const shown = matching(isNew ? [...choices, inSandbox(name, `Open or create ${name}`)] : choices, text)
  const close = () => {
    searched.value = undefined
  }
  const run = (choice: Choice | undefined) => {
    if (choice === undefined) return
    recent = [choice.label, ...recent.filter((label) => label !== choice.label)].slice(0, 5)
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
