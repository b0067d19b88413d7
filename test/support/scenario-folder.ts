import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Later } from '../../src/adapters/realtime.ts'
import { type LibraryOptions, ScenarioLibrary } from '../../src/adapters/scenarios/library.ts'
import type { ScenarioNotice } from '../../src/adapters/scenarios/problem.ts'
import type { Check, ScenarioVocabulary } from '../../src/adapters/scenarios/schema.ts'
import { isObject } from '../../src/core/json.ts'
import type { ScenarioSnapshot } from '../../src/core/scenarios/source.ts'
import { zodIssues } from '../../src/core/zod-issues.ts'
import { paceChangeSchema } from '../../src/resources/batch-predictions/pace.ts'
import { outcomeRulesSchema } from '../../src/resources/batch-predictions/schema.ts'

const anything: Check = () => []

/** What a scenario may say in these tests: pace and outcomes are those of batches, a rule needs a preset, a stub a method. */
export const vocabulary: ScenarioVocabulary = {
  events: ['batch.completed', 'batch.failed'],
  checks: {
    fixtures: anything,
    settings: anything,
    action: anything,
    pace: bySchema(paceChangeSchema()),
    outcomes: bySchema(outcomeRulesSchema()),
    rule: withMember('preset'),
    stub: withMember('method'),
  },
}

/** A library with what it has said. */
export interface OpenLibrary {
  readonly library: ScenarioLibrary
  readonly notices: readonly ScenarioNotice[]
  /** Resolves when this holds; asked now, and whenever something has been swapped, found broken or said. */
  until(holds: () => boolean): Promise<void>
}

/** Opens a library on a folder. The caller closes it. */
export async function openLibrary(
  folder: string,
  options: Partial<LibraryOptions> = {},
): Promise<OpenLibrary> {
  const notices: ScenarioNotice[] = []
  const looks = new Set<() => void>()
  const look = () => {
    for (const each of [...looks]) each()
  }
  const onNotice = (notice: ScenarioNotice) => {
    notices.push(notice)
    look()
  }
  const library = new ScenarioLibrary(folder, { vocabulary, onNotice, ...options })
  library.onChange(look)
  await library.load()
  const until = (holds: () => boolean) =>
    new Promise<void>((resolve) => {
      const check = () => {
        if (!holds()) return
        looks.delete(check)
        resolve()
      }
      looks.add(check)
      check()
    })
  return { library, notices, until }
}

/** A time for scripts that is over when a test says so, and never by itself. */
export interface ManualLimit {
  readonly later: Later
  /** Calls the time of the running task over. */
  runOut(): void
}

/** What `later` of a library may be. */
export function manualLimit(): ManualLimit {
  let pending: (() => void) | undefined
  const later: Later = (_ms, call) => {
    pending = call
    return () => {
      if (pending === call) pending = undefined
    }
  }
  return { later, runOut: () => pending?.() }
}

/** Code of a script that says so and then never comes to an end. */
export const HANGS = "console.log('hangs'); for (;;) {}"

/** Writes files below a folder, by their path in it. */
export function writeFiles(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
}

/** A script whose default export is written so. */
export function script(scenario: string, before = ''): string {
  return `import { defineScenario } from 'agent-workspace-emulator'\n${before}export default defineScenario(${scenario})\n`
}

/** A sandbox with one batch and one page. */
export function snapshotOf(more: Partial<ScenarioSnapshot> = {}): ScenarioSnapshot {
  return {
    now: '2026-03-01T12:00:00.000Z',
    collections: ['pages', 'skills'],
    records: () => [
      { id: 'batch_1', status: 'completed', metadata: null },
      { id: 'batch_2', status: 'in_progress', metadata: { team: 'blue' } },
    ],
    state: (collection) => (collection === 'pages' ? [{ id: 'page_1', title: 'One' }] : []),
    ...more,
  }
}

function bySchema(schema: { safeParse(value: unknown): { error?: unknown } }): Check {
  return (raw) => {
    const { error } = schema.safeParse(raw)
    return error === undefined ? [] : zodIssues(error as Parameters<typeof zodIssues>[0], '')
  }
}

function withMember(name: string): Check {
  return (raw) =>
    isObject(raw) && Object.hasOwn(raw, name) ? [] : [{ pointer: '', detail: `must have a ${name}` }]
}
