/** An error that a test runner reports, or a program that fails. */
export interface ReportedError {
  readonly kind: 'crash' | 'wrong result' | 'clear error'
  /** Its first line, at most 200 characters. */
  readonly message: string
}

/**
 * The errors in the output of a command, without their causes: those that a test runner lists if there are some, otherwise the
 * lines that begin like an error. Tracebacks quote source lines, and these may look like errors.
 * @param junit JUnit XML of the same run; its failures replace those in the output
 */
export function reportedErrors(output: string, junit = ''): ReportedError[] {
  // On Windows lines end in CR and LF.
  const [text, xml] = [output, junit].map((each) => each.replaceAll('\r\n', '\n')) as [string, string]
  const found = [junitErrors(xml), runnerErrors(text), programErrors(text)]
  return (found.find(({ length }) => length > 0) ?? []).map(classified)
}

/** What the groups of a pattern match, joined for each match. */
function groups(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([, ...parts]) => parts.filter(Boolean).join(': '))
}

/** How runners print their failures, and some lines below them. Errors without a name are those of a file or a suite. */
const FAILURES = {
  vitest: /^ FAIL {2}.*\n(?! FAIL )(.+)|^⎯+ (Unhandled Rejection) ⎯+\n(.+)/gm,
  jest: /^ {2}● .+\n\n {4}(.+(?:\n(?: {4}.*)?){0,6})/gm,
  // The time limit of a test is a panic, too, but no defect of the program.
  go: /^(panic: (?!test timed out).*)|^ {4,}\w+\.go:\d+: (?:\n\s+(Error Trace):.*\n\s+Error: +\t)?(.+)/gm,
  node: /^ *✖ .+ \(\d[\d.]*ms\)\n {2,}([^'\s].*(?:\n(?! *[✖✔ℹ]).*){0,6})/gm,
  tap: /^ *error: (?=.*(?:\n(?! *\.\.\.).*)*?\n *name: '(.+)')(?:\|-\n *)?["'`]?(.+?(?:\n {4}.*){0,6})["'`]?$/gm,
}

// pytest: the last lines with E of each test, because causes come first; without any, the short summary.
function runnerErrors(output: string): string[] {
  const tests = output.split(/^_+ (?!_).+ _+$/m).map((test) => test.split(/^-+ Captured /m, 1).join())
  const errors = tests.flatMap((test) => groups(test, /^E {2,}(?! *\[ *\d+%)(.*(?:\nE .*)*)/gm).slice(-1))
  const pytest = errors.length > 0 ? errors : groups(output, /^(?:FAILED|ERROR) \S+::.*? - (.+)/gm)
  return [...pytest, ...Object.values(FAILURES).flatMap((pattern) => groups(output, pattern))]
}

/** The failures in JUnit XML. The text of each is what the runner prints; that of node --test has the error as a cause. */
function junitErrors(xml: string): string[] {
  const failure =
    /<(?:failure|error)\b(?:[^>"]|"[^"]*")*(?<!\/)>(?:<!\[CDATA\[)?([\s\S]*?)<\/(?:failure|error)>/g
  return groups(xml, failure).map((content) => {
    const text = content.replaceAll(/&(lt|gt|quot|apos|amp);/g, (_, name) => ENTITIES[name] ?? '')
    const inner = /^[\s\S]*?ERR_TEST_FAILURE[\s\S]*?\n *cause: |^\s*(?:Error: (?=expect\())?/
    return runnerErrors(text)[0] ?? text.replace(inner, '')
  })
}

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' }

/** What a traceback prints besides errors: in Python the source line of a call, in Node that of an uncaught error. */
const SOURCE = /^( *)File ".*", line \d+.*\n(?:\1 {2,}.*\n)*|^\S+:\d+\n(?:.*\n)?\s*\^+\n/gm

/** An error that another one has as its cause: in JavaScript below it, in Python above it. */
const CAUSES =
  /^.*(?:\[cause\]|Caused by): .*$|^Traceback (?:(?!Traceback)[\s\S])*?\n\n(?=The above exception|During handling)/gm

/** What programs and runners write in front of an error. */
const MARGIN = /^[ \t│|#✖×→]*(?:Uncaught )?/gm

function programErrors(output: string): string[] {
  const text = output.replaceAll(CAUSES, '').replaceAll(SOURCE, '').replaceAll(MARGIN, '')
  return text.split('\n').filter((line) => [DEFECT, ASSERTION, ERROR].some((pattern) => pattern.test(line)))
}

/** An error of the program itself, in the runtimes of JavaScript and Python, and in Go. `fetch` reports its failures as TypeError. */
const DEFECT =
  /^(?:TypeError\b[^:]*: (?!fetch failed|terminated|Failed to fetch|Load failed|NetworkError)|(?:[\w.]+\.)?(?:ReferenceError|RangeError|SyntaxError|AttributeError|KeyError|IndexError|UnicodeDecodeError|JSONDecodeError)\b|panic: )|Unhandled (?:Promise )?Rejection/
const ASSERTION =
  /^AssertionError\b|^assert[ .(]|^Failed: DID NOT RAISE|^expect\((?:received|jest\.fn\(\))\)|^Error Trace: (?:Not equal|Should|")/
const ERROR = /^(?:[\w.]+\.)?\w*(?:Error|Exception)\b[^:]*: .|^error: ./i

/** An assertion about the error of a call: the call has failed, with another error than the test expects. */
const OTHER_ERROR =
  /to throw .* but got|Received message: |^AssertionError: expected (?:error|[\w.]*(?:Error|Exception)\b)|rejects\.(?![\s\S]*promise resolved)|Input:\s+'\w*(?:Error|Exception)\b|is expected to|Got unwanted|Comparison \{|Regex pattern did not match/

/** The error of a call that an assertion expects to succeed. */
const REJECTED = /promise rejected "(.*?)"? instead|Rejected to value: \[(.*)\]/g

function classified(text: string): ReportedError {
  const [error = text] = groups(text, REJECTED)
  const isAssertion = ASSERTION.test(error) && !OTHER_ERROR.test(error)
  const kind = DEFECT.test(error) ? 'crash' : isAssertion ? 'wrong result' : 'clear error'
  return { kind, message: error.trimStart().split('\n', 1).join().slice(0, 200) }
}
