"""Every tool, in the order of `tools/list`: its function, title, toolset, and what calling it may do."""

from p2p_mcp.apps.page import FOR_THE_PAGE, SHOWS_DASHBOARD
from p2p_mcp.toolbox import ASKS, ENDS, READS, REPEATABLE, WRITES, ServerTool
from p2p_mcp.tools.benchmark import run_benchmark
from p2p_mcp.tools.benchmark_results import compare_benchmarks, verify_benchmark
from p2p_mcp.tools.catalog import check_setup, describe_environment, list_environments
from p2p_mcp.tools.comparing import compare_videos
from p2p_mcp.tools.create import create_session
from p2p_mcp.tools.dashboard import read_dashboard, show_dashboard
from p2p_mcp.tools.export import export_policy
from p2p_mcp.tools.jobs import cancel_job, get_job, list_jobs
from p2p_mcp.tools.judge_code import write_judge_code
from p2p_mcp.tools.judging import judge_videos, submit_judgment
from p2p_mcp.tools.keeping import extend_session, manage_session
from p2p_mcp.tools.labelling import label_rollout
from p2p_mcp.tools.metrics import compare_iterations, get_metrics
from p2p_mcp.tools.nodes import list_nodes
from p2p_mcp.tools.rewards import check_reward, revise_reward, write_reward
from p2p_mcp.tools.sessions import analyze_session, get_session, list_sessions, steer_session
from p2p_mcp.tools.training import run_session, train_iteration
from p2p_mcp.tools.viewing import view_rollout

TOOLS = (
    ServerTool(list_environments, "List environments", "catalog", READS),
    ServerTool(describe_environment, "Describe environment", "catalog", REPEATABLE, heavy=True),
    ServerTool(check_setup, "Check setup", "catalog", READS, heavy=True),
    ServerTool(list_nodes, "List nodes", "catalog", ASKS),
    ServerTool(create_session, "Create session", "sessions", WRITES),
    ServerTool(get_session, "Get session", "sessions", READS),
    ServerTool(analyze_session, "Analyze session", "sessions", REPEATABLE, heavy=True),
    ServerTool(list_sessions, "List sessions", "sessions", READS),
    ServerTool(steer_session, "Steer session", "sessions", WRITES),
    ServerTool(manage_session, "Manage session", "sessions", REPEATABLE),
    ServerTool(extend_session, "Extend session", "sessions", WRITES),
    ServerTool(write_reward, "Write reward", "rewards", WRITES, heavy=True),
    ServerTool(check_reward, "Check reward", "rewards", READS, heavy=True),
    ServerTool(revise_reward, "Revise reward", "rewards", WRITES, heavy=True),
    ServerTool(train_iteration, "Train iteration", "training", REPEATABLE),
    ServerTool(run_session, "Run session", "training", REPEATABLE),
    ServerTool(run_benchmark, "Run benchmark", "training", REPEATABLE, heavy=True),
    ServerTool(compare_benchmarks, "Compare benchmarks", "training", READS, heavy=True),
    ServerTool(verify_benchmark, "Verify a benchmark", "training", READS, heavy=True),
    ServerTool(get_job, "Get job", "training", READS),
    ServerTool(list_jobs, "List jobs", "training", READS),
    ServerTool(cancel_job, "Cancel job", "training", ENDS),
    ServerTool(get_metrics, "Get metrics", "training", READS, heavy=True),
    ServerTool(compare_iterations, "Compare iterations", "training", READS, heavy=True),
    ServerTool(judge_videos, "Judge videos", "judging", WRITES, heavy=True),
    ServerTool(submit_judgment, "Submit judgment", "judging", REPEATABLE),
    ServerTool(write_judge_code, "Write judge code", "judging", REPEATABLE, heavy=True),
    ServerTool(compare_videos, "Compare videos", "judging", WRITES, heavy=True),
    ServerTool(label_rollout, "Label a rollout", "judging", WRITES),
    ServerTool(view_rollout, "View rollout", "viewing", READS, heavy=True),
    ServerTool(export_policy, "Export policy", "export", REPEATABLE, heavy=True),
    ServerTool(show_dashboard, "Show the dashboard", "viewing", READS, meta=SHOWS_DASHBOARD),
    ServerTool(read_dashboard, "Read the dashboard", "viewing", READS, meta=FOR_THE_PAGE),
)
"""A heavy tool keeps a processor busy, or starts a process that does: over HTTP few of them run at a time."""
