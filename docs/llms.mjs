import { readdirSync, readFileSync, writeFileSync } from 'node:fs'

// Called by the build, unless it has no documentation (as in the Dockerfile): writes `llms.txt`, an index of the documentation for
// language models, and `llms-full.txt`, all of its text.
export function writeLlms(folder) {
  const docs = readdirSync('docs', { recursive: true }).filter((name) => name.endsWith('.md'))
  const paths = ['README.md', ...docs.sort().map((name) => `docs/${name.replaceAll('\\', '/')}`)]
  const pages = new Map(paths.map((path) => [path, readFileSync(path, 'utf8')]))
  const readme = pages.get('README.md')
  const [title, about] = readme.split('\n\n')
  // The rows of the tables in the index, which may link several pages.
  const rows = [...pages.get('docs/README.md').matchAll(/^\| (\[.*?\)) \| (.+) \|$/gm)]
  const lines = [...pages].map(([path, text]) => {
    const name = /^# (.+)$/m.exec(text)?.[1] ?? path
    const content = rows.find(([, links]) => links.includes(`](${path.slice('docs/'.length)})`))?.[2]
    return `- [${name}](${path})${content === undefined ? '' : `: ${content}`}`
  })
  const index = `${title}\n\n> ${about.replaceAll('\n', ' ')}\n\n## Documentation\n\n${lines.join('\n')}\n`
  const full = [...pages].map(([path, text]) => `<!-- ${path} -->\n\n${text.trim()}\n`)
  writeFileSync(`${folder}/llms.txt`, index)
  writeFileSync(`${folder}/llms-full.txt`, full.join('\n'))
}
