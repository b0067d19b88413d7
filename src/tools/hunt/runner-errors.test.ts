import { expect, test } from 'vitest'
import { reportedErrors } from './runner-errors.ts'

const kinds = (output: string, junit = '') =>
  reportedErrors(output, junit).map(({ kind, message }) => `${kind}: ${message}`)

test('pytest: each test has one error, the last one that it raises, also under a title without room', () => {
  const output = `.FE                                                                      [100%]
==================================== ERRORS ====================================
_________________________ ERROR at setup of test_setup _________________________
E   test_client.ClientError: setup
E   KeyError: 1
=================================== FAILURES ===================================
_ test_with_a_name_that_takes_the_whole_width_of_the_terminal_and_then_some_more _
>   assert len(users) == 23
E   assert 22 == 23
_________________________________ test_raises __________________________________
E   test_client.ClientError: status 500

During handling of the above exception, another exception occurred:

E   AssertionError: Regex pattern did not match.
E     Expected regex: 'validation'
E     Actual message: 'status 500'
__________________________________ test_none ___________________________________
E   Failed: DID NOT RAISE <class 'test_client.ClientError'>
__________________________________ test_print __________________________________
E   KeyError: 'a'
----------------------------- Captured stdout call -----------------------------
E   AssertionError: printed
`
  expect(kinds(output)).toEqual([
    'clear error: test_client.ClientError: setup',
    'wrong result: assert 22 == 23',
    'clear error: AssertionError: Regex pattern did not match.',
    "wrong result: Failed: DID NOT RAISE <class 'test_client.ClientError'>",
    "crash: KeyError: 'a'",
  ])
})

test('pytest: the short summary is read where tracebacks are native or left out', () => {
  const output = `    assert page["name"] == name
client.ClientError: not JSON
=========================== short test summary info ============================
FAILED test_client.py::test_page - client.ClientError: not JSON
FAILED test_client.py::test_users[a - b] - assert 22 == 23
ERROR test_client.py::test_setup - KeyError: 'a'
`
  expect(kinds(output)).toEqual([
    'clear error: client.ClientError: not JSON',
    'clear error: b] - assert 22 == 23',
    "crash: KeyError: 'a'",
  ])
})

test('Vitest: the line after the title of a failure counts, not its cause and not the source below it', () => {
  const output = `⎯⎯⎯⎯⎯⎯ Failed Tests 4 ⎯⎯⎯⎯⎯⎯⎯

 FAIL  client.test.mjs > equal
 FAIL  other.test.mjs > equal
AssertionError: expected 22 to be 23 // Object.is equality

- Expected

 FAIL  client.test.mjs > page
AssertionError: promise rejected "ClientError: status 500" instead of resolving
 ❯ client.test.mjs:11:38
     11| assert page

Caused by: SyntaxError: x

 FAIL  client.test.mjs > refused
AssertionError: expected [Function] to throw error matching /validation/ but got 'status 500'

 FAIL  client.test.mjs > users
AssertionError: promise rejected "TypeError: Cannot read properties of unde…" instead of resolving

⎯⎯⎯⎯ Unhandled Rejection ⎯⎯⎯⎯⎯
ClientError: status 503
`
  expect(kinds(output)).toEqual([
    'wrong result: AssertionError: expected 22 to be 23 // Object.is equality',
    'clear error: ClientError: status 500',
    "clear error: AssertionError: expected [Function] to throw error matching /validation/ but got 'status 500'",
    'crash: TypeError: Cannot read properties of unde…',
    'crash: Unhandled Rejection: ClientError: status 503',
  ])
})

test('Jest: the text below the title of a failure counts', () => {
  const output = `FAIL ./client.test.mjs
  ✕ page (312 ms)

  ● page

    expect(received).resolves.toMatchObject()

    Received promise rejected instead of resolved
    Rejected to value: [ClientError: POST /pages: no whole response]

      2 |
    > 4 |   assert expect(createPage('Roof plan')).resolves.toMatchObject({ name: 'Roof plan' })

  ● refused

    expect(received).rejects.toThrow(expected)

    Expected pattern: /validation/
    Received message: "status 500"

  ● not refused

    expect(received).rejects.toThrow()

    Received promise resolved instead of rejected

  ● suite › users

    expect(received).toHaveLength(expected)

    Expected length: 23

  ● crash

    TypeError: Cannot read properties of undefined (reading 'x')

      at Object.<anonymous> (client.test.mjs:4:9)
`
  expect(kinds(output)).toEqual([
    'clear error: ClientError: POST /pages: no whole response',
    'clear error: expect(received).rejects.toThrow(expected)',
    'wrong result: expect(received).rejects.toThrow()',
    'wrong result: expect(received).toHaveLength(expected)',
    "crash: TypeError: Cannot read properties of undefined (reading 'x')",
  ])
})

test('go test: a panic is a crash and an assertion of testify a wrong result; the time limit is neither', () => {
  const output = `--- FAIL: TestPage (0.13s)
    client_test.go:8: create: POST /pages: unexpected EOF
--- FAIL: TestUsers (0.00s)
    --- FAIL: TestUsers/all (0.00s)
        client_test.go:12: 
            	Error Trace:	client_test.go:12
            	Error:      	Not equal: 
            	            	expected: 23
--- FAIL: TestErr (0.00s)
    client_test.go:14: 
        	Error Trace:	client_test.go:14
        	Error:      	Received unexpected error:
--- FAIL: TestRows (0.00s)
panic: runtime error: index out of range [0] with length 0 [recovered]
	panic: runtime error: index out of range [0] with length 0

goroutine 19 [running]:
panic: test timed out after 10m0s
FAIL	client	0.068s
`
  expect(kinds(output)).toEqual([
    'clear error: create: POST /pages: unexpected EOF',
    'wrong result: Error Trace: Not equal: ',
    'clear error: Error Trace: Received unexpected error:',
    'crash: panic: runtime error: index out of range [0] with length 0 [recovered]',
  ])
})

const SPEC = `✖ page (345.364546ms)
  Error [ClientError]: POST /pages: no whole response
      at call (file:///client.mjs:33:15) {
    [cause]: TypeError [Error]: x is not a function
✖ users (1.2ms)
  AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:
  
  22 !== 23
✖ refused (1.5ms)
  AssertionError [ERR_ASSERTION]: The input did not match the regular expression /validation/. Input:
  
  'ClientError: status 500'
✖ text (1.5ms)
  AssertionError [ERR_ASSERTION]: The input did not match the regular expression /roof/. Input:
  
  'cellar'
✖ suite (2ms)
  '1 subtest failed'
`
const TAP = `not ok 1 - page
  ---
  error: 'POST /pages: no whole response'
  code: 'ERR_TEST_FAILURE'
  name: 'ClientError'
  ...
    not ok 1 - users
      ---
      error: |-
        Expected values to be strictly equal:
        
        22 !== 23
        
      name: 'AssertionError'
      expected: 23
      ...
not ok 2 - refused
  ---
  error: |-
    The input did not match the regular expression /validation/. Input:
    
    'ClientError: status 500'
    
  name: 'AssertionError'
  actual:
  error: 'status 500'
  ...
not ok 3 - suite
  ---
  error: '1 subtest failed'
  ...
`

test.each([
  ['spec', SPEC, ['clear error', 'wrong result', 'clear error', 'wrong result']],
  ['tap', TAP, ['clear error', 'wrong result', 'clear error']],
])('node --test, reporter %s: the name and the message of a failure count', (_, output, expected) => {
  expect(reportedErrors(output).map(({ kind }) => kind)).toEqual(expected)
})

const CAUSE = 'The above exception was the direct cause of the following exception:'
const TRACEBACK = 'Traceback (most recent call last):'

test.each([
  ['JSON that cannot be parsed', 'crash', ' SyntaxError: Unexpected token < in JSON'],
  ['a panic', 'crash', 'panic: runtime error: invalid memory address'],
  ['an error of fetch', 'clear error', 'TypeError: fetch failed'],
  ['a cause', 'clear error', 'CallError: not JSON\n  [cause]: SyntaxError: Unexpected token'],
  [
    'a cause in Python',
    'clear error',
    `${TRACEBACK}\n  a\nKeyError: 1\n\n${CAUSE}\n\n${TRACEBACK}\n  b\nClientError: 5`,
  ],
  [
    'the source lines of a traceback in Python',
    'clear error',
    `${TRACEBACK}
  File "run.py", line 3, in <module>
    assert connected(
    ^^^^^^^^^^^^^^^^^
  File "client.py", line 9, in connected
    KeyError: is what it says here
client.ClientError: status 500
`,
  ],
  [
    'the source line of an error in Node',
    'clear error',
    'file:///run.mjs:3\n  assert page\n         ^\n\nCallError: not JSON\n    at run.mjs:3:10\n',
  ],
  [
    'code above an error',
    'clear error',
    '    if (error instanceof SyntaxError) throw new CallError(text)\n\nCallError: not JSON',
  ],
  ['an assertion', 'wrong result', 'AssertionError [ERR_ASSERTION]: 22 !== 23'],
])('the output of a program: %s', (_, kind, output) => {
  expect(reportedErrors(output)).toEqual([expect.objectContaining({ kind })])
})

const ASSERTION = 'AssertionError: expected 22 to be 23'

test.each([
  ['pytest', '>&gt;   x\nE   assert 22 &gt; 23\n</failure>', 'wrong result: assert 22 > 23'],
  ['Vitest', ` type="AssertionError">\n${ASSERTION}\n\n - 22</failure>`, `wrong result: ${ASSERTION}`],
  [
    'Jest',
    '>Error: expect(received).toBe(expected)\n\nExpected: 23</failure>',
    'wrong result: expect(received).toBe(expected)',
  ],
  ['go test', '>=== RUN A\n    a_test.go:8: create: EOF\n</failure>', 'clear error: create: EOF'],
  [
    'node --test',
    ` message="22 !== 23">\n[Error: x] {\n  code: 'ERR_TEST_FAILURE',\n  cause: ${ASSERTION}\n}\n</failure>`,
    `wrong result: ${ASSERTION}`,
  ],
  [
    'an error in CDATA',
    ' message="a > b"><![CDATA[ClientError: <a>]]></failure>',
    'clear error: ClientError: <a>]]>',
  ],
  ['a passed test', '/><skipped/><failure>ClientError: a</failure>', 'clear error: ClientError: a'],
])('JUnit XML replaces the output: %s', (_, failure, expected) => {
  const xml = `<testsuite><testcase name="a"><failure${failure}</testcase></testsuite>`
  expect(kinds('TypeError: x', xml)).toEqual([expected])
})

test('an empty or passed JUnit file leaves the output as it is', () => {
  expect(kinds('TypeError: x', '<testsuite errors="0" failures="0"/>')).toEqual(['crash: TypeError: x'])
})
