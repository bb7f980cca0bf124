// Runs in the browser, on the page of the reference: a form that gets a token and hands it to "Try it out", and links to
// the same requests as files. The service puts before this file: `DEMO`, the demonstration accounts where their data is
// laid, else none; `DOWNLOADS`, the files.

;(() => {
  const make = (name, members = {}, children = []) => {
    const element = Object.assign(document.createElement(name), members)
    element.append(...children)
    return element
  }

  // The page keeps the reference to itself: this takes it when it is made.
  let reference
  const bundle = window.SwaggerUIBundle
  window.SwaggerUIBundle = Object.assign((options) => {
    reference = bundle(options)
    return reference
  }, bundle)

  const [first] = DEMO
  const email = make('input', { type: 'email', required: true, autocomplete: 'username', value: first?.email ?? '' })
  const password = make('input', {
    type: 'password',
    required: true,
    autocomplete: 'current-password',
    value: first?.password ?? '',
  })
  const button = make('button', { type: 'submit', textContent: 'Sign in' })
  const state = make('output')
  const form = make('form', { id: 'sign-in' }, [
    make('label', {}, ['E-mail ', email]),
    make('label', {}, ['Password ', password]),
    button,
    state,
  ])
  for (const account of DEMO) {
    const choose = make('button', { type: 'button', textContent: `${account.email} (${account.role})` })
    choose.addEventListener('click', () => {
      email.value = account.email
      password.value = account.password
    })
    form.append(choose)
  }

  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    button.disabled = true
    state.textContent = 'Signing in …'
    try {
      const answer = await fetch('/docs/sign-in', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ email: email.value, password: password.value }),
      })
      const { token, message } = await answer.json()
      if (answer.ok) reference.preauthorizeApiKey('bearer', token)
      state.textContent = answer.ok ? `Signed in as ${email.value}: “Try it out” sends the token.` : message
    } catch {
      state.textContent = 'The service does not answer.'
    } finally {
      button.disabled = false
    }
  })

  const links = DOWNLOADS.map(({ path, name, label }) => make('a', { href: path, download: name, textContent: label }))
  form.append(
    make('p', {}, ['Download these requests: ', ...links.flatMap((link, index) => (index ? [' · ', link] : [link]))]),
  )
  document.body.prepend(form)
})()
