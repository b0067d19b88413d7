import { flagOf, type OptionName, optionOf, shownDefault, variableOf } from './options.ts'

/** The reference of some options as a Markdown table, for the README; a test keeps the two alike. */
export function referenceTable(names: readonly OptionName[]): string {
  const rows = names.map((name) => {
    const { short, placeholder, says } = optionOf(name)
    const flags = [short, flagOf(name)].filter((each) => each !== undefined).join(', ')
    const shown = placeholder === undefined ? flags : `${flags} <${placeholder.replaceAll('|', '\\|')}>`
    return `| \`${shown}\` | \`${variableOf(name)}\` | ${shownDefault(name)} | ${says} |`
  })
  return ['| flag | environment variable | default | meaning |', '|---|---|---|---|', ...rows, ''].join('\n')
}
