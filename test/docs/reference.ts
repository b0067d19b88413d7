import { commands, START_OPTIONS } from '../../src/doors/cli/commands.ts'
import { referenceTable } from '../../src/doors/cli/reference.ts'
import { controlRoutes } from '../../src/doors/control/routes/index.ts'
import { batchLifecycle } from '../../src/resources/batch-predictions/states.ts'
import { ledger, workspaceService } from '../../src/resources/index.ts'

/** The parts of the README that are made from the code, by the name of their markers. */
export const references: Readonly<Record<string, () => string>> = {
  operations: () =>
    table(
      ['operation', 'request', 'what it does', 'errors', 'contract'],
      [...workspaceService.operations.values()].map(
        ({ name, method, path, summary, dialect, contract, beta }) => [
          code(name),
          code(`${method} ${path}`),
          summary + (beta === true ? ' (beta)' : ''),
          dialect,
          contract ? 'yes' : 'no',
        ],
      ),
    ),
  commands: () =>
    table(
      ['command', 'what it does'],
      commands.map(({ name, args, says }) => [code([name, ...args.map((arg) => arg.name)].join(' ')), says]),
    ),
  flags: () => referenceTable(START_OPTIONS).trimEnd(),
  control: () =>
    table(
      ['call', 'what it does'],
      controlRoutes(workspaceService).map(({ method, path, summary }) => [
        code(`${method} ${path}`),
        summary,
      ]),
    ),
  lifecycle: () => ['```mermaid', 'stateDiagram-v2', '  [*] --> validating', ...arrows(), '```'].join('\n'),
  assumptions: () =>
    table(
      ['item', 'what is open', 'what the emulator does', 'shown'],
      [...ledger.items.values()].map(({ id, open, reading, shows }) => [
        id,
        open,
        reading,
        shows === 'answer' ? 'yes' : '',
      ]),
    ),
  settings: () =>
    table(
      ['key', 'item', 'default', 'meaning'],
      [...ledger.settings.values()]
        .sort((a, b) => (a.key < b.key ? -1 : 1))
        .map(({ key, item, default: value, says }) => [code(key), item, code(JSON.stringify(value)), says]),
    ),
}

/** The README with every generated part made anew. */
export function withReferences(readme: string): string {
  return Object.entries(references).reduce((text, [name, make]) => {
    const [open, close] = [`<!-- ${name} -->`, `<!-- /${name} -->`]
    const [start, end] = [text.indexOf(open), text.indexOf(close)]
    if (start === -1 || end < start) throw new Error(`the README has no part between ${open} and ${close}`)
    return `${text.slice(0, start + open.length)}\n${make()}\n${text.slice(end)}`
  }, readme)
}

function arrows(): string[] {
  return batchLifecycle.arrows.map(({ from, on, to, because }) => `  ${from} --> ${to}: ${on} (${because})`)
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head), `|${head.map(() => '---|').join('')}`, ...rows.map(line)].join('\n')
}

function code(text: string): string {
  return `\`${text}\``
}
