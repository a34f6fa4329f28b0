// The log of a job, followed while it runs: only what is new is asked for.
const every = 1000; // [ms]

export function followLog() {
  const log = document.querySelector("[data-log]");
  if (!log) return;
  let offset = Number(log.dataset.offset);
  const bottom = () => log.scrollHeight - log.scrollTop - log.clientHeight < 24;
  log.scrollTop = log.scrollHeight;
  const look = async () => {
    const runs = document.querySelector("[data-runs]") !== null; // looked at first: its last lines are asked for after
    if (!document.hidden) {
      const answer = await fetch(`/api/jobs/${log.dataset.log}/log?offset=${offset}`).catch(() => null);
      if (answer?.ok) {
        const found = await answer.json();
        const follow = bottom();
        if (found.text) log.append(found.text);
        offset = found.offset;
        if (follow) log.scrollTop = log.scrollHeight;
        if (!runs) return;
      }
    }
    setTimeout(look, every);
  };
  look();
}
