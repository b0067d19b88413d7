import { execFileSync } from 'node:child_process'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { Extractor, ExtractorConfig } from '@microsoft/api-extractor'

// Builds the types of dist/: one file for each entry point, which imports nothing but Node and its test runner. The
// compiler writes a declaration file for each source; the extractor takes from them what the entry point shows.
// It is a step of its own, for publishing alone: nobody who just starts the emulator waits for it.

const require = createRequire(resolve('package.json'))
const { name } = require('./package.json')

const folder = mkdtempSync(join(tmpdir(), 'workspace-emulator-types-'))
process.on('exit', () => rmSync(folder, { recursive: true }))
const declarations = join(folder, 'src')
// The library, for the entry points that stand on it.
const library = join(declarations, 'node_modules', name)

emit(['index.ts', 'doors/testing/vitest.ts', 'doors/testing/playwright.ts'])
rollUp('index.d.ts', 'dist/index.d.ts')
mkdirSync(library, { recursive: true })
cpSync('dist/index.d.ts', join(library, 'index.d.ts'))
writeFileSync(join(library, 'package.json'), JSON.stringify({ name, version: '0.0.0', types: 'index.d.ts' }))
rollUp('doors/testing/vitest.d.ts', 'dist/vitest.d.mts')
rollUp('doors/testing/playwright.d.ts', 'dist/playwright.d.ts')

/** Writes the declarations of the given sources and all that they import. */
function emit(sources) {
  const compilerOptions = {
    noEmit: false,
    declaration: true,
    emitDeclarationOnly: true,
    // `npm run types` has done that.
    noCheck: true,
    rootDir: resolve('src'),
    outDir: declarations,
    typeRoots: [resolve('node_modules/@types')],
  }
  const files = sources.map((source) => resolve('src', source))
  writeFileSync(
    join(folder, 'emit.json'),
    JSON.stringify({ extends: resolve('tsconfig.json'), compilerOptions, include: [], files }),
  )
  const compiler = join(require.resolve('typescript/package.json'), '../bin/tsc')
  execFileSync(process.execPath, [compiler, '-p', join(folder, 'emit.json')], { stdio: 'inherit' })
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
  for (const file of readdirSync(declarations, { recursive: true, encoding: 'utf8' })) {
    if (file.endsWith('.d.ts')) rewriteImports(join(declarations, file))
  }
}

/** Declarations import declarations by the name of the script; the library is imported as a user imports it. */
function rewriteImports(file) {
  const inner = file.includes(join('doors', 'testing'))
  const text = readFileSync(file, 'utf8')
  const rewritten = text.replaceAll(/(from |import\()(['"])(\.[^'"]*)\.ts\2/g, (_, verb, quote, path) => {
    const target = inner && resolve(file, '..', path) === join(declarations, 'index') ? name : `${path}.js`
    return `${verb}${quote}${target}${quote}`
  })
  // What is merged into the types of another module may name all that stands beside it.
  const merges = mergedInto(text).length > 0
  writeFileSync(
    file,
    merges ? rewritten.replaceAll(/^(?:declare )?(?=(?:type|interface) )/gm, 'export ') : rewritten,
  )
}

/** The declarations that an entry point adds to the types of other modules. */
function mergedInto(text) {
  return text.match(/^declare module '[^']+' \{\n[\s\S]*?^\}\n/gm) ?? []
}

/** Writes all that an entry point shows into one file. */
function rollUp(entry, output) {
  const file = join(declarations, entry)
  const rolled = join(folder, 'rolled.d.ts')
  const config = ExtractorConfig.prepare({
    configObject: {
      projectFolder: resolve('.'),
      mainEntryPointFilePath: file,
      compiler: {
        overrideTsconfig: {
          compilerOptions: {
            target: 'ES2023',
            lib: ['ES2023', 'ESNext.Disposable'],
            module: 'NodeNext',
            types: ['node'],
            strict: true,
            skipLibCheck: true,
          },
          files: [file],
        },
      },
      dtsRollup: { enabled: true, untrimmedFilePath: rolled },
      apiReport: { enabled: false, reportFileName: 'none.api.md' },
      docModel: { enabled: false },
      tsdocMetadata: { enabled: false },
    },
    packageJsonFullPath: resolve('package.json'),
  })
  const nameless = []
  const { succeeded } = Extractor.invoke(config, {
    localBuild: true,
    messageCallback: (message) => {
      message.handled = message.logLevel !== 'error'
      if (message.messageId === 'ae-forgotten-export') nameless.push(message.text)
    },
  })
  if (!succeeded) throw new Error(`The types of ${entry} cannot be rolled up.`)
  if (process.argv.includes('--forgotten')) console.log(nameless.join('\n'))
  // The extractor follows exports, and leaves out what is merged into other modules.
  const text = `${readFileSync(rolled, 'utf8')}\n${mergedInto(readFileSync(file, 'utf8')).join('\n')}`
  const libraryImport = new RegExp(`^(import .* from) '${name}'`, 'gm')
  writeFileSync(output, text.replaceAll(libraryImport, "$1 './index.js'"))
}
