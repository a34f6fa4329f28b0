"""Keep the pole balanced"""

from p2p.training.reward_function import RewardFunction


class BalancePole(RewardFunction):
    """Keeping the pole upright, with the cart near the middle."""

    weights = {
        "alive": 1.0,
        "lean": 2.5,
        "off_centre": 0.1,
    }

    def compute(self, obs, action, next_obs, info):
        w = self.weights
        terms = {
            "alive": w["alive"],
            "lean": -w["lean"] * info["pole_angle"],
            "off_centre": -w["off_centre"] * abs(info["cart_position"]),
        }
        return sum(terms.values()), terms

    @property
    def latex(self):
        return (
            r"r = w_{\mathrm{alive}} "
            r"- w_{\mathrm{lean}}\,|\theta| "
            r"- w_{\mathrm{off\_centre}}\,|x| "
        )

    @property
    def terms(self):
        return {
            "alive": "every step the pole is up",
            "lean": "penalty for the pole's lean",
            "off_centre": "penalty for leaving the middle",
        }

    @property
    def description(self):
        return "Keeping the pole upright, with the cart near the middle."
