import { useState } from 'preact/hooks'
import { ask } from './api.ts'
import { type BatchRow, batchName, isUnfinished, useBatches } from './batch-data.ts'
import { advanceBy, jump, playOrPause, stepOnce } from './clock-bar.tsx'
import { isCommandOpen } from './dialogs.tsx'
import { shortId } from './format.ts'
import { Icon, type IconName } from './icon.tsx'
import { act } from './live.ts'
import { useLive } from './loaded.tsx'
import { goTo, linkTo } from './place.ts'
import { saveRecording } from './recording.ts'
import { logRows } from './requests.ts'
import { nextTheme } from './theme.ts'
import { showModal } from './ui.tsx'
import { views } from './views.ts'

interface Choice {
  readonly group: 'Actions' | 'Views' | 'Batches' | 'Requests' | 'Presets'
  readonly label: string
  readonly hint?: string
  readonly icon: IconName
  readonly run: () => void
}

const PER_GROUP = 5

/** The labels that were chosen last, shown while the field is empty. */
const recent: string[] = []

function choicesOf(batches: readonly BatchRow[], presets: readonly string[]): readonly Choice[] {
  return [
    { group: 'Actions', label: 'Step to the next event', icon: 'step', run: stepOnce },
    { group: 'Actions', label: 'Run or freeze the clock', icon: 'play', run: playOrPause },
    ...['+1 m', '+1 h', '+24 h', '+29 d'].map(
      (label): Choice => ({
        group: 'Actions',
        label: `Advance ${label}`,
        icon: 'step',
        run: () => jump(label),
      }),
    ),
    ...batches.filter(isUnfinished).map(
      (batch): Choice => ({
        group: 'Actions',
        label: `Advance until ${batchName(batch)} is done`,
        icon: 'step',
        run: () => void advanceBy(`Until ${batchName(batch)} is done`, { until: { batch: batch.id } }),
      }),
    ),
    { group: 'Actions', label: 'Save the recording', icon: 'download', run: () => void saveRecording() },
    { group: 'Actions', label: 'Change the colours', icon: 'moon', run: nextTheme },
    ...views.map(
      (view): Choice => ({
        group: 'Views',
        label: view.title,
        hint: `g ${view.key}`,
        icon: view.icon,
        run: () => goTo(linkTo(view.name)),
      }),
    ),
    ...batches.map(
      (batch): Choice => ({
        group: 'Batches',
        label: batchName(batch),
        hint: `${shortId(batch.id)} ${batch.status}`,
        icon: 'batches',
        run: () => goTo(linkTo('batches', [batch.id])),
      }),
    ),
    ...logRows
      .peek()
      .entries.slice(0, 500)
      .map(
        (row): Choice => ({
          group: 'Requests',
          label: `${row.method} ${row.path}`,
          hint: `${row.status} ${row.id}`,
          icon: 'requests',
          run: () => goTo(linkTo('requests', [row.id])),
        }),
      ),
    ...presets.map(
      (name): Choice => ({
        group: 'Presets',
        label: `Arm ${name}`,
        icon: 'bolt',
        run: () => void act(() => ask('POST /faults', { body: { preset: name } }), `${name} is armed.`),
      }),
    ),
  ]
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
        (choice) => choice.group !== 'Requests' && choice.group !== 'Presets' && !last.includes(choice),
      ),
    ].slice(0, 10)
  }
  const counts = new Map<string, number>()
  return choices.filter(({ group, label, hint = '' }) => {
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
  const { data: presets } = useLive(() => ask('GET /fault-presets'), [])
  const shown = matching(choicesOf(batches, presets?.data.map(({ name }) => name) ?? []), text)
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
        placeholder="Search batches, requests and presets, or run an action"
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
              {choice.hint !== undefined && <span class="hint push">{choice.hint}</span>}
            </div>
          </div>
        ))}
      </div>
      {shown.length === 0 && <p class="pad hint">Nothing matches "{text}".</p>}
      <p class="keys-line hint">
        <kbd>↑</kbd> <kbd>↓</kbd> choose <kbd>Enter</kbd> run <kbd>Esc</kbd> close
      </p>
    </dialog>
  )
}
