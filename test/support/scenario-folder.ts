import { type LibraryOptions, ScenarioLibrary } from '../../src/adapters/scenarios/library.ts'
import type { ScenarioNotice } from '../../src/adapters/scenarios/problem.ts'
import type { Check, ScenarioVocabulary } from '../../src/adapters/scenarios/schema.ts'
import { isObject } from '../../src/core/json.ts'
import type { ScenarioSnapshot } from '../../src/core/scenarios/source.ts'
import { zodIssues } from '../../src/core/zod-issues.ts'
import { paceChangeSchema } from '../../src/service/batch-predictions/pace.ts'
import { outcomeRulesSchema } from '../../src/service/batch-predictions/schema.ts'

export { put as writeFiles } from './endpoint-folder.ts'

const anything: Check = () => []

/** The vocabulary of scenarios in these tests: pace and outcomes are those of batches, a rule needs a preset, a stub a method. */
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

export type OpenLibrary = Awaited<ReturnType<typeof openLibrary>>

/** Opens a library on a folder. The caller closes it. */
export async function openLibrary(folder: string, options: Partial<LibraryOptions> = {}) {
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
  /** Resolves when the condition holds; checked now, and after each change and each notice. */
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

/** A script with this default export. */
export function script(scenario: string, before = ''): string {
  return `import { defineScenario } from 'agent-workspace-emulator'\n${before}export default defineScenario(${scenario})\n`
}

/** A sandbox with one batch and one page. */
export function snapshotOf(more: Partial<ScenarioSnapshot> = {}): ScenarioSnapshot {
  return {
    now: '2026-03-01T12:00:00.000Z',
    collections: ['pages', 'skills'],
    moves: ['fail', 'complete', 'expire', 'cleanup', 'change'].map((name) => {
      return { name, takesBody: name === 'fail' || name === 'change' }
    }),
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
