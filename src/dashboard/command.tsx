import { useState } from 'preact/hooks'
import { ask } from './api.ts'
import { type BatchRow, batchName, isUnfinished, useBatches } from './batch-data.ts'
import { advanceToEnd, JUMPS, jump, playOrPause, stepOnce } from './clock-bar.tsx'
import { isCommandOpen } from './dialogs.tsx'
import { shortId } from './format.ts'
import { Icon, type IconName } from './icon.tsx'
import { act } from './live.ts'
import { useLive } from './loaded.tsx'
import { goTo, linkTo } from './place.ts'
import { logRows, saveRecording } from './requests.ts'
import { nextTheme } from './theme.ts'
import { entriesOf, showModal } from './ui.tsx'
import { views } from './views.ts'

interface Choice {
  readonly group: 'Actions' | 'Views' | 'Batches' | 'Requests' | 'Presets'
  readonly label: string
  readonly hint: string
  readonly icon: IconName
  readonly run: () => void
}

const PER_GROUP = 5

/** The labels that were chosen last, shown while the field is empty. */
const recent: string[] = []

type Offered = readonly [label: string, icon: IconName, run: () => void, hint?: string]

function choicesOf(batches: readonly BatchRow[], presets: readonly string[]): readonly Choice[] {
  const requests = logRows.peek().entries.slice(0, 500)
  const offered: Readonly<Record<Choice['group'], readonly Offered[]>> = {
    Actions: [
      ['Step to the next event', 'step', stepOnce],
      ['Run or freeze the clock', 'play', playOrPause],
      ...JUMPS.map(([by, label]): Offered => [`Advance ${label}`, 'step', () => jump(by)]),
      ...batches
        .filter(isUnfinished)
        .map(
          (each): Offered => [`Advance until ${batchName(each)} is done`, 'step', () => advanceToEnd(each)],
        ),
      ['Save the recording', 'download', () => void saveRecording()],
      ['Change the colours', 'moon', nextTheme],
    ],
    Views: views.map(({ name, title, icon, key }) => [title, icon, () => goTo(linkTo(name)), `g ${key}`]),
    Batches: batches.map((batch) => {
      const { id, status } = batch
      return [batchName(batch), 'batches', () => goTo(linkTo('batches', [id])), `${shortId(id)} ${status}`]
    }),
    Requests: requests.map(({ id, method, path, status }) => [
      `${method} ${path}`,
      'requests',
      () => goTo(linkTo('requests', [id])),
      `${status} ${id}`,
    ]),
    Presets: presets.map((preset) => {
      const arm = () => void act(() => ask('POST /faults', { body: { preset } }), `${preset} is armed.`)
      return [`Arm ${preset}`, 'bolt', arm]
    }),
  }
  return entriesOf(offered).flatMap(([group, all]) =>
    all.map(([label, icon, run, hint = '']) => ({ group, label, icon, run, hint })),
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
        (choice) => choice.group !== 'Requests' && choice.group !== 'Presets' && !last.includes(choice),
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
