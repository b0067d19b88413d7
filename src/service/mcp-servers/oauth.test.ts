import fc from 'fast-check'
import { expect, test } from 'vitest'
import { redirectProblem } from './oauth.ts'

const ACCEPTED = `
https://x.example/cb https://x.example HTTPS://X.example/cb?a=1#b https://x.example:8443/cb
https://[2001:db8::1]/cb https://localhost/cb http://localhost http://localhost/
http://localhost:3000/oauth/cb?x=1 http://localhost?x=1 http://localhost#x http://LOCALHOST:3000/cb
http://127.0.0.1 http://127.0.0.1:8080/a/b http://[::1] http://[::1]:8080/cb`

const REFUSED = `
http://x.example http://x.example/http://localhost http://127.0.0.2 http://127.0.0.1.evil.example
http://localhost.evil.example http://localhost. http://localhostevil.example http://localhost@evil.example
http://user:pass@localhost http://@localhost http://evil.example#@localhost http://evil.example?@localhost
http://2130706433 http://127.1 http://0x7f000001 http://0177.0.0.1 http://0.0.0.0
http://127.0.0.1%2eevil.example http://%6cocalhost http://loc\u00ADalhost http://ｌocalhost
http://[::1].evil.example http://[0:0:0:0:0:0:0:1] http://[::ffff:127.0.0.1] http://[::1%25lo]
ftp://localhost ws://localhost file:///etc/passwd javascript:alert(1) javascript://localhost/%0aalert(1)
data:text/html,x //localhost ///localhost /cb localhost localhost:3000/cb http:localhost http:/localhost
https:x.example https:// https:///x.example http://\\localhost http://localhost\\@evil.example
https:\\\\x.example http://localhost:99999 http://localhost:port http://localhost:80@evil.example http://`

const listed = (text: string) => text.trim().split(/\s+/)

test.for(listed(ACCEPTED))('%s is accepted', { tags: ['R145'] }, (uri) => {
  expect(redirectProblem(uri)).toBeUndefined()
})

const WITH_BLANKS = [' http://localhost', 'http://localhost\n.evil.example', 'ht\ttp://localhost', '']

test.for([...listed(REFUSED), ...WITH_BLANKS])('%j is refused', { tags: ['R145', 'T30'] }, (uri) => {
  expect(redirectProblem(uri)).toBeDefined()
})

test('the refusal of a host that parses to loopback names the allowed forms', { tags: ['R145'] }, () => {
  const problem = redirectProblem('http://2130706433/cb')
  expect(problem).toMatchObject({ loopback: true })
  expect(problem?.detail).toContain('localhost, 127.0.0.1, [::1]')
  expect(problem?.detail).toContain('2130706433')
})

test('every http URI that is accepted leads to loopback for any URL parser', { tags: ['R145'] }, () => {
  const piece = fc.constantFrom(
    ...['http', 'https', ':', '/', '//', '\\', '@', '#', '?', '.', '%2e', '\t', '[::1]', 'localhost'],
    ...['127.0.0.1', '127.1', 'evil.example', ':80', 'LOCALHOST', '', 'a'],
  )
  const start = fc.constantFrom('http://', 'http:', 'HTTP:/')
  const property = fc.property(start, fc.array(piece, { maxLength: 6 }), (start, pieces) => {
    const uri = start + pieces.join('')
    if (redirectProblem(uri) !== undefined) return
    const { hostname, username, password } = new URL(uri)
    expect(['localhost', '127.0.0.1', '[::1]']).toContain(hostname)
    expect([username, password]).toEqual(['', ''])
  })
  fc.assert(property, { numRuns: 2000 })
})
