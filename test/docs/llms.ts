/** `llms.txt`, an index of the documentation for language models, and `llms-full.txt`, all of its text. */
export function llmsFiles(pages: ReadonlyMap<string, string>): Readonly<Record<string, string>> {
  const readme = pages.get('README.md') ?? ''
  const [title = '', about = ''] = readme.split('\n\n')
  // The rows of the README's table, which may link several pages.
  const rows = [...readme.matchAll(/^\| (\[.*?\)) \| (.+) \|$/gm)]
  const lines = [...pages].map(([path, text]) => {
    const name = /^# (.+)$/m.exec(text)?.[1] ?? path
    const content = rows.find(([, links = '']) => links.includes(`](${path})`))?.[2]
    return `- [${name}](${path})${content === undefined ? '' : `: ${content}`}`
  })
  const full = [...pages].map(([path, text]) => `<!-- ${path} -->\n\n${text.trim()}\n`)
  return {
    'llms.txt': `${title}\n\n> ${about.replaceAll('\n', ' ')}\n\n## Documentation\n\n${lines.join('\n')}\n`,
    'llms-full.txt': full.join('\n'),
  }
}
