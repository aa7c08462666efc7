// The client of the seeds' document 003, "WebSocket Connection", as written there apart from the token. Around it are
// the functions that an editor would have, which print what they are told.
function showSkillPanel(skill: string): void {
  console.log(JSON.stringify({ panel: skill }));
}
function updateStepStatus(step: string, success: boolean): void {
  console.log(JSON.stringify({ step, success }));
}
function showCompletionToast(outputs: unknown): void {
  console.log(JSON.stringify({ outputs }));
  ws.close();
}

// VSCode Extension client
const ws = new WebSocket(`ws://localhost:9876/?token=${process.env.TOKEN}`);

ws.onmessage = (event) => {
  const data = JSON.parse(event.data);

  switch (data.type) {
    case 'skill_started':
      showSkillPanel(data.skill);
      break;
    case 'step_completed':
      updateStepStatus(data.step_id, data.success);
      break;
    case 'skill_completed':
      showCompletionToast(data.outputs);
      break;
  }
};

ws.onopen = () => console.log('open');
ws.onerror = () => process.exit(1);
