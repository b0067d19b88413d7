import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

// The licences of what dist/ is built from. Their texts are those of the installed packages; packages that differ in
// nothing but the copyright share one text.

/** Packages under the MIT licence that are built into a file of jiti and not installed here: whose they say they are. */
const INSIDE_OTHERS = {
  'babel-plugin-parameter-decorator': 'Copyright (c) Warner',
  'get-tsconfig': 'Copyright (c) Hiroki Osame <hiroki.osame@gmail.com>',
  mlly: 'Copyright (c) Pooya Parsa <pooya@pi0.io>',
  'resolve-pkg-maps': 'Copyright (c) Hiroki Osame <hiroki.osame@gmail.com>',
}

const HEAD =
  'The files of this folder contain the software that is listed here, under the licence below each list.\n'

/** @returns the text for dist/THIRD-PARTY-LICENSES.txt, from the files that a build has read */
export function licenses(inputs) {
  const files = inputs.filter((file) => file.includes('node_modules/'))
  const packages = new Map(
    files.flatMap((file) => packagesOf(file)).map((each) => [`${each.name} ${each.version}`, each]),
  )
  const terms = new Map()
  for (const { name, version, license, copyright, text } of [...packages.values()].sort(byName)) {
    const sharers = terms.get(wordsOf(text)) ?? { license, text, lines: [] }
    sharers.lines.push(`${name} ${version}${copyright.map((line) => `\n    ${line}`).join('')}`)
    terms.set(wordsOf(text), sharers)
  }
  const sections = [...terms.values()].map(
    ({ license, text, lines }) => `${license}\n\n${lines.join('\n')}\n\n${text}\n`,
  )
  return [HEAD, ...sections].join(`\n${'-'.repeat(80)}\n\n`)
}

function byName(a, b) {
  return a.name < b.name ? -1 : 1
}

/** The package of a file, and those that are inside of that file. */
function packagesOf(file) {
  const [, folder, name] = /^(.*node_modules\/((?:@[^/]+\/)?[^/]+))\//.exec(file) ?? []
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  return [{ name, version, ...termsIn(folder) }, ...(file.includes('/dist/') ? packagesInside(file) : [])]
}

/** Built files of jiti name each module by the path that it had at their build: package and version. */
function packagesInside(file) {
  const paths = readFileSync(file, 'utf8').matchAll(
    /node_modules\/\.pnpm\/[^/"]*?@(\d[^_/"]*)[^/"]*\/node_modules\/((?:@[^/"]+\/)?[^/"]+)/g,
  )
  const versions = new Map([...paths].map(([, version, name]) => [name, version]))
  return [...versions].map(([name, version]) => ({ name, version, ...termsOfInner(name) }))
}

function termsOfInner(name) {
  const copyright = INSIDE_OTHERS[name]
  if (copyright !== undefined) return { ...termsIn('node_modules/jiti'), copyright: [copyright] }
  // All of Babel is one repository under one licence.
  return termsIn(join('node_modules', name.startsWith('@babel/') ? '@babel/core' : name))
}

/** What the files of an installed package say. A package that says nothing must not get into dist/ unnoticed. */
function termsIn(folder) {
  const { license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each))
  if (typeof license !== 'string' || file === undefined) {
    throw new Error(`${folder} states no licence; look it up and add the package to build/licenses.mjs.`)
  }
  const lines = readFileSync(join(folder, file), 'utf8').replaceAll('\r', '').split('\n')
  return {
    license,
    copyright: lines.filter(isCopyright).map((line) => line.trim()),
    text: lines
      .filter((line) => !isCopyright(line) && !isHeading(line))
      .join('\n')
      .trim(),
  }
}

function isCopyright(line) {
  return /^\s*(Copyright|\(c\)) /.test(line)
}

function isHeading(line) {
  return /^\W*(the )?(mit|isc) license\W*(\(mit\))?\W*$|^\W*mit\W*$/i.test(line)
}

/** The words alone, whatever the line breaks and quotation marks. */
function wordsOf(text) {
  return text.replaceAll(/[“”']/g, '"').split(/\s+/).join(' ')
}
